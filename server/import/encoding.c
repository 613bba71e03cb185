/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.c - converts a file of any encoding to UTF-8 */
#include "server/import/encoding.h"

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

#define SAMPLE_MAX 200
#define REPLACEMENT 0xfffd

static bool has_mark(const char *text, size_t len, const char *mark, size_t n)
{
    return len >= n && memcmp(text, mark, n) == 0;
}

/* True if every second byte, from `first` on, is NUL: UTF-16 without a byte order
 * mark. */
static bool has_nul_at(const char *text, size_t len, size_t first)
{
    size_t n = len < SAMPLE_MAX ? len : SAMPLE_MAX, nul = 0;

    for (size_t i = first; i < n; i += 2)
        nul += text[i] == '\0';
    return n >= 4 && nul * 10 >= n / 2 * 9;
}

static uint32_t unit_at(const char *text, bool is_big)
{
    const unsigned char *at = (const unsigned char *)text;

    return is_big ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

static size_t put_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Decode the UTF-16 character at *at and move *at past it. */
static uint32_t next_code(const char *text, size_t len, size_t *at, bool is_big)
{
    uint32_t code = unit_at(text + *at, is_big), low;

    *at += 2;
    if (code < 0xd800 || code > 0xdfff)
        return code;
    if (code > 0xdbff || *at + 1 >= len)
        return REPLACEMENT;
    low = unit_at(text + *at, is_big);
    if (low < 0xdc00 || low > 0xdfff)
        return REPLACEMENT;
    *at += 2;
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

static void from_utf16(char **text, size_t *len, size_t from, bool is_big)
{
    char *out = memory_zeroed(*len / 2 * 3 + 1, 1, "an imported file");
    size_t n = 0;

    for (size_t at = from; at + 1 < *len;)
        n += put_utf8(out + n, next_code(*text, *len, &at, is_big));
    free(*text);
    *text = out;
    *len = n;
}

/* Return the text inside a JSON log line of a container engine or journald, such as
 * {"log":"...","stream":"stdout"}. A log collector's prefix before the JSON is allowed.
 * Returns a new reference, or NULL if the line is not such JSON. */
static json_t *printed(const char *line, size_t len)
{
    static const char *const keys[] = {"log", "MESSAGE", "message"};
    const char *open = memmem(line, len, "{\"", 2);
    json_t *object =
        open ? json_loadb(open, len - (size_t)(open - line), JSON_ALLOW_NUL, NULL) : NULL;
    json_t *text = NULL;

    for (size_t i = 0; !text && i < sizeof(keys) / sizeof(keys[0]); i++)
        if (json_is_string(json_object_get(object, keys[i])))
            text = json_incref(json_object_get(object, keys[i]));
    json_decref(object);
    return text;
}

/* Replace each JSON log line by the text inside it. Other lines are not changed. */
static void from_json_lines(char **text, size_t *len)
{
    const char *at = *text, *end = at + *len;
    /* A JSON line is longer than its text, so the result fits. */
    char *out = memory_zeroed(*len + 1, 1, "an imported file");
    size_t n = 0;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        json_t *line = printed(at, length);
        const char *from = line ? json_string_value(line) : at;
        size_t size = line ? json_string_length(line) : length;

        memcpy(out + n, from, size);
        n += size;
        if (size == 0 || out[n - 1] != '\n')
            out[n++] = '\n';
        json_decref(line);
        at += length + 1;
    }
    free(*text);
    *text = out;
    *len = n;
}

/* True if the first line is a JSON log line and other lines follow. */
static bool is_json_lines(const char *text, size_t len)
{
    const char *newline = memchr(text, '\n', len);
    json_t *line = newline ? printed(text, (size_t)(newline - text)) : NULL;
    bool is_one = line != NULL;

    json_decref(line);
    return is_one;
}

static int decode_utf(char **text, size_t *len, struct error *err)
{
    if (has_mark(*text, *len, "\xff\xfe\0\0", 4) ||
        has_mark(*text, *len, "\0\0\xfe\xff", 4))
        return error_set(err, ERROR_INVALID,
                         "the file is UTF-32: convert it to UTF-8 or UTF-16");
    if (has_mark(*text, *len, "\xff\xfe", 2)) {
        from_utf16(text, len, 2, false);
    } else if (has_mark(*text, *len, "\xfe\xff", 2)) {
        from_utf16(text, len, 2, true);
    } else if (has_nul_at(*text, *len, 1)) {
        from_utf16(text, len, 0, false);
    } else if (has_nul_at(*text, *len, 0)) {
        from_utf16(text, len, 0, true);
    } else if (has_mark(*text, *len, "\xef\xbb\xbf", 3)) {
        memmove(*text, *text + 3, *len - 3);
        *len -= 3;
    }
    return 0;
}

/* Like memmem(), but faster if the first byte of `what` is rare. */
static char *find(char *from, const char *end, const char *what)
{
    size_t len = strlen(what);

    while ((from = memchr(from, what[0], (size_t)(end - from)))) {
        if ((size_t)(end - from) >= len && memcmp(from, what, len) == 0)
            return from;
        from++;
    }
    return NULL;
}

/* Drop color codes as written by rsyslog and cat -v: "#033[36m", "^[[36m". */
static void drop_colours(char *text, size_t *len)
{
    static const char *const starts[] = {"#033[", "^[["};

    for (size_t k = 0; k < sizeof(starts) / sizeof(starts[0]); k++) {
        char *end = text + *len, *from = find(text, end, starts[k]), *to = from;

        while (from) {
            char *next, *stop;

            from += strlen(starts[k]);
            while (from < end && (isdigit((unsigned char)*from) || *from == ';'))
                from++;
            from += from < end && *from != '\n';
            next = find(from, end, starts[k]);
            stop = next ? next : end;
            memmove(to, from, (size_t)(stop - from));
            to += stop - from;
            from = next;
        }
        *len = to ? (size_t)(to - text) : *len;
    }
}

/* Replace tabs, and the no-break spaces (U+00A0) of text copied from web pages, by
 * spaces. */
static void plain_blanks(char *text, size_t len)
{
    char *end = text + len;

    for (char *at = text; (at = find(at, end, "\t"));)
        *at++ = ' ';
    for (char *at = text; (at = find(at, end, "\xc2\xa0")); at += 2)
        memset(at, ' ', 2);
}

int import_decode(char **text, size_t *len, struct error *err)
{
    if (decode_utf(text, len, err))
        return -1;
    if (is_json_lines(*text, *len))
        from_json_lines(text, len);
    drop_colours(*text, len);
    plain_blanks(*text, *len);
    return 0;
}
