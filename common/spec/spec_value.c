/* SPDX-License-Identifier: Apache-2.0 */
/* spec_value.c - checks the values in a run spec and in agents' reports */
#include "common/spec/spec_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clean_text.h"
#include "common/base/memory.h"
#include "common/base/units.h"

#define ENV_VALUE_MAX 4096
#define LABELS_MAX 32
#define LABEL_TEXT_MAX 200
#define SIZE_LIMIT (UINT64_C(1) << 40)

const char *spec_type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a fraction";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        break;
    }
    return "null";
}

void spec_parse_integer(const json_t *value, long min, long max, long *out,
                        const char *pointer, struct problems *problems)
{
    json_int_t n = json_integer_value(value);

    if (!json_is_integer(value))
        problems_add(problems, pointer, "must be an integer from %ld to %ld, not %s", min,
                     max, spec_type_name(value));
    else if (n < min || n > max)
        problems_add(problems, pointer, "must be from %ld to %ld, not %lld", min, max,
                     (long long)n);
    else
        *out = (long)n;
}

void spec_check_env_value(const json_t *value, const char *pointer,
                          struct problems *problems)
{
    if (json_is_integer(value))
        problems_add(problems, pointer, "must be a string: \"%lld\", in quotes",
                     (long long)json_integer_value(value));
    else if (!json_is_string(value))
        problems_add(problems, pointer, "must be a string, not %s",
                     spec_type_name(value));
    else if (json_string_length(value) > ENV_VALUE_MAX)
        problems_add(problems, pointer, "must be at most %d bytes", ENV_VALUE_MAX);
}

bool spec_check_name(const char *text, const char *pointer, struct problems *problems)
{
    char fault[CLEAN_TEXT_FAULT_MAX];

    if (!clean_text_fault(text, fault))
        return true;
    problems_add(problems, pointer, "must not contain %s", fault);
    return false;
}

void spec_parse_string(const json_t *value, size_t max, char **out, const char *pointer,
                       struct problems *problems)
{
    if (!json_is_string(value)) {
        problems_add(problems, pointer, "must be a string, not %s",
                     spec_type_name(value));
        return;
    }
    if (json_string_length(value) > max) {
        problems_add(problems, pointer, "must be at most %zu bytes, not %zu", max,
                     json_string_length(value));
        return;
    }
    if (!spec_check_name(json_string_value(value), pointer, problems))
        return;
    free(*out);
    *out = memory_text(json_string_value(value), "a spec");
}

void spec_child_pointer(char *out, size_t size, const char *pointer, const char *key)
{
    size_t n = (size_t)snprintf(out, size, "%s/", pointer);

    for (; *key && n + 3 < size; key++) {
        if (*key == '~' || *key == '/') {
            out[n++] = '~';
            out[n++] = *key == '~' ? '0' : '1';
        } else {
            out[n++] = *key;
        }
    }
    if (n < size)
        out[n] = '\0';
}

void spec_check_object(json_t *value, const char *pointer, struct problems *problems)
{
    if (!json_is_object(value))
        problems_add(problems, pointer, "must be an object");
}

void spec_check_labels(json_t *value, const char *pointer, struct problems *problems)
{
    char at[256];
    const char *key;
    json_t *label;

    if (!json_is_object(value)) {
        problems_add(problems, pointer, "must be an object of strings, not %s",
                     spec_type_name(value));
        return;
    }
    if (json_object_size(value) > LABELS_MAX) {
        problems_add(problems, pointer, "must have at most %d labels, not %zu",
                     LABELS_MAX, json_object_size(value));
        return;
    }
    json_object_foreach (value, key, label) {
        spec_child_pointer(at, sizeof(at), pointer, key);
        if (strlen(key) == 0 || strlen(key) > LABEL_TEXT_MAX)
            problems_add(problems, at, "a label's name must have 1 to %d bytes",
                         LABEL_TEXT_MAX);
        else if (!json_is_string(label) || json_string_length(label) > LABEL_TEXT_MAX)
            problems_add(problems, at, "must be a string of at most %d bytes",
                         LABEL_TEXT_MAX);
        else if (spec_check_name(key, at, problems))
            spec_check_name(json_string_value(label), at, problems);
    }
}

uint64_t spec_parse_size(const json_t *value, const char *pointer,
                         struct problems *problems)
{
    struct error err;
    uint64_t bytes = 0;

    if (json_is_integer(value) && json_integer_value(value) > 0) {
        bytes = (uint64_t)json_integer_value(value);
    } else if (json_is_string(value)) {
        if (units_parse_size(json_string_value(value), &bytes, &err)) {
            problems_add(problems, pointer, "%s", err.text);
            return 0;
        }
    } else {
        problems_add(problems, pointer,
                     "must be a size: bytes as an integer above 0, or a string such as "
                     "\"64K\", \"128M\"");
        return 0;
    }
    if (bytes == 0 || bytes > SIZE_LIMIT) {
        problems_add(problems, pointer, "must be from 1 byte to 1T");
        return 0;
    }
    return bytes;
}

size_t spec_parse_names(const json_t *value, const struct spec_names *names, int *out,
                        const char *pointer, struct problems *problems)
{
    struct buf known;
    char at[64];
    size_t n = 0;

    if (!json_is_array(value) || json_array_size(value) == 0) {
        problems_add(problems, pointer, "must be an array of at least one name");
        return 0;
    }
    buf_init(&known, 1024);
    for (int i = 0; i < names->count; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", names->name(i));
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *text = json_string_value(json_array_get(value, i));
        int found = text ? names->lookup(text) : -1;
        bool repeated = false;

        for (size_t k = 0; k < n; k++)
            repeated = repeated || out[k] == found;
        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        if (found < 0)
            problems_add(problems, at, "must be one of %s", known.data ? known.data : "");
        else if (repeated)
            problems_add(problems, at, "%s is listed twice", text);
        else
            out[n++] = found;
    }
    buf_release(&known);
    return n;
}
