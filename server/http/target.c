/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - decodes and splits request targets */
#include "server/http/target.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/memory.h"
#include "common/base/utf8.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool is_utf8(const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        size_t n = utf8_sequence(text, left);

        if (n == 0)
            return false;
        text += n;
        left -= n;
    }
    return true;
}

/* Decode in place; -1 for a bad escape, a NUL or invalid UTF-8. */
static int decode(char *text, bool plus_is_space)
{
    char *out = text;

    for (const char *in = text; *in; in++) {
        if (*in == '+' && plus_is_space) {
            *out++ = ' ';
        } else if (*in == '%') {
            int high = hex_digit(in[1]);
            int low = high < 0 ? -1 : hex_digit(in[2]);

            if (low < 0 || (high == 0 && low == 0))
                return -1;
            *out++ = (char)(high << 4 | low);
            in += 2;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
    return is_utf8(text) ? 0 : -1;
}

/* Return the path of an absolute-form target, or the target itself. */
static const char *skip_authority(const char *uri)
{
    const char *rest;

    if (!strncasecmp(uri, "http://", 7))
        rest = uri + 7;
    else if (!strncasecmp(uri, "https://", 8))
        rest = uri + 8;
    else
        return uri;
    rest += strcspn(rest, "/?");
    return *rest ? rest : "/";
}

static int split_path(struct target *target, char *path, struct error *err)
{
    while (path) {
        char *segment = path;

        if (target->n_segments == TARGET_SEGMENTS_MAX)
            return error_set(err, ERROR_NOT_FOUND, "no such page");
        path = strchr(segment, '/');
        if (path)
            *path++ = '\0';
        if (decode(segment, false))
            return error_set(err, ERROR_INVALID,
                             "the path has a bad %%-escape or is not UTF-8");
        target->segments[target->n_segments++] = segment;
    }
    return 0;
}

static int split_query(struct target *target, char *query, struct error *err)
{
    target->query = memory_zeroed(TARGET_PAIRS_MAX, sizeof(*target->query), "a request");
    while (query) {
        char *name = query, *value;

        query = strchr(name, '&');
        if (query)
            *query++ = '\0';
        if (!*name)
            continue;
        if (target->n_query == TARGET_PAIRS_MAX)
            return error_set(err, ERROR_INVALID, "more than %d query parameters",
                             TARGET_PAIRS_MAX);
        value = strchr(name, '=');
        if (value)
            *value++ = '\0';
        else
            value = name + strlen(name);
        if (decode(name, true) || decode(value, true))
            return error_set(err, ERROR_INVALID,
                             "the query has a bad %%-escape or is not UTF-8");
        target->query[target->n_query].name = name;
        target->query[target->n_query++].value = value;
    }
    return 0;
}

int target_parse(struct target *target, const char *uri, struct error *err)
{
    const char *start = skip_authority(uri);
    size_t path_len = strcspn(start, "?"), len = strlen(start);
    char *path, *parts;

    memset(target, 0, sizeof(*target));
    target->memory = memory_zeroed(1, path_len + len + 2, "a request");
    path = target->memory;
    memcpy(path, start, path_len);
    path[path_len] = '\0';
    target->path = path;
    parts = path + path_len + 1;
    memcpy(parts, start, len + 1);
    if (decode(path, false)) {
        error_set(err, ERROR_INVALID, "the path has a bad %%-escape or is not UTF-8");
        goto fail;
    }
    if (len > path_len) {
        parts[path_len] = '\0';
        if (split_query(target, parts + path_len + 1, err))
            goto fail;
    }
    if (parts[0] == '/' && split_path(target, parts + 1, err))
        goto fail;
    return 0;
fail:
    target_release(target);
    return -1;
}

void target_release(struct target *target)
{
    free(target->query);
    free(target->memory);
    memset(target, 0, sizeof(*target));
}

const char *target_query(const struct target *target, const char *name)
{
    for (size_t i = 0; i < target->n_query; i++)
        if (!strcmp(target->query[i].name, name))
            return target->query[i].value;
    return NULL;
}
