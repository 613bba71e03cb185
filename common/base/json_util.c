/* SPDX-License-Identifier: Apache-2.0 */
/* json_util.c - shorthand for frequent JSON operations */
#include "common/base/json_util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/utf8.h"

const char *json_get_str(const json_t *object, const char *key, const char *fallback)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : fallback;
}

int64_t json_get_int(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? (int64_t)json_integer_value(value) : fallback;
}

double json_get_num(const json_t *object, const char *key, double fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : fallback;
}

bool json_get_bool(const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

json_t *json_find(const json_t *array, const char *key, const char *text)
{
    json_t *one;
    size_t i;

    json_array_foreach (array, i, one)
        if (strcmp(json_get_str(one, key, ""), text) == 0)
            return one;
    return NULL;
}

bool json_has_string(const json_t *array, const char *text)
{
    for (size_t i = 0; text && i < json_array_size(array); i++) {
        const char *one = json_string_value(json_array_get(array, i));

        if (one && strcmp(one, text) == 0)
            return true;
    }
    return false;
}

int64_t json_get_time(const json_t *object, const char *key)
{
    return clock_parse_ms(json_get_str(object, key, NULL));
}

void json_set_time(json_t *object, const char *key, int64_t wall_ms)
{
    char text[CLOCK_TEXT_MAX];

    json_object_set_new(object, key, json_string(clock_format_ms(wall_ms, text)));
}

json_t *json_parse(const char *text, size_t len, struct error *err)
{
    json_error_t why;
    json_t *value;

    value = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    if (!value)
        error_set(err, ERROR_INVALID, "not valid JSON: %s at line %d, column %d",
                  why.text, why.line, why.column);
    return value;
}

json_t *json_clean_string(const char *text)
{
    json_t *value = text ? json_string(text) : NULL;
    char *copy;

    if (value || !text)
        return value;
    copy = memory_text(text, "a text");
    utf8_trim(copy);
    utf8_clean(copy);
    value = json_string(copy);
    free(copy);
    return value;
}

int json_check_extent(const char *text, size_t len, struct error *err)
{
    size_t names = 0, values = 1;
    bool in_string = false;

    for (size_t i = 0; i < len; i++)
        if (text[i] == '"')
            in_string = !in_string;
        else if (in_string)
            i += text[i] ==
                 '\\'; /* skip an escaped character, which cannot end the string */
        else if (text[i] == ':')
            names++;
        else if (text[i] == ',')
            values++;
    if (names > JSON_NAMES_MAX)
        return error_set(
            err, ERROR_LIMIT,
            "the JSON text contains %zu names in its objects; the limit is %d", names,
            JSON_NAMES_MAX);
    if (values > JSON_VALUES_MAX)
        return error_set(err, ERROR_LIMIT,
                         "the JSON text contains %zu values; the limit is %d", values,
                         JSON_VALUES_MAX);
    return 0;
}

char *json_text(const json_t *value)
{
    char *text =
        json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));

    if (value && !text)
        memory_out("JSON");
    return text;
}

int json_append(const json_t *value, struct buf *out)
{
    char *text = json_text(value);
    int result = text ? buf_append_str(out, text) : -1;

    free(text);
    return result;
}

int json_line_append(const json_t *value, struct buf *out)
{
    return json_append(value, out) ? -1 : buf_append_str(out, "\n");
}

static int write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

int json_write_file(const json_t *value, const char *path, struct error *err)
{
    char temporary[4096];
    char *text;
    int fd = -1, result = -1;

    if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary))
        return error_set(err, ERROR_INVALID, "the path is too long: %.100s...", path);
    text = json_text(value);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write_all(fd, text, strlen(text))) {
        error_set_errno(err, ERROR_IO, errno, "cannot write %s", temporary);
        goto out;
    }
    if (rename(temporary, path)) {
        error_set_errno(err, ERROR_IO, errno, "cannot rename to %s", path);
        goto out;
    }
    result = 0;
out:
    if (fd >= 0)
        close(fd);
    if (result)
        unlink(temporary);
    free(text);
    return result;
}

json_t *json_read_file(const char *path, size_t max, struct error *err)
{
    char chunk[8192];
    struct buf content;
    json_t *value = NULL;
    ssize_t n;
    int fd;

    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        error_set_errno(err, ERROR_IO, errno, "cannot open %s", path);
        return NULL;
    }
    buf_init(&content, max);
    while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            error_set_errno(err, ERROR_IO, errno, "cannot read %s", path);
            goto out;
        }
        if (buf_append(&content, chunk, (size_t)n)) {
            error_set(err, ERROR_LIMIT, "%s is larger than %zu bytes", path, max);
            goto out;
        }
    }
    value = json_parse(content.data ? content.data : "", content.len, err);
    if (!value)
        error_prefix(err, "%s", path);
out:
    close(fd);
    buf_release(&content);
    return value;
}
