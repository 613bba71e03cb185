/* SPDX-License-Identifier: Apache-2.0 */
/* clean_text.c - makes foreign bytes safe for JSON, terminals, logs and names */
#include "common/base/clean_text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"

/* size of the longest displayed special character, including the NUL */
#define SHOWN_MAX 12

static const struct {
    uint32_t first, last;
} specials[] = {
    {0x0, 0x1f},      {0x7f, 0x9f},     {0x61c, 0x61c},     {0x200b, 0x200b},
    {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0xfeff, 0xfeff},
    {0xfdd0, 0xfdef}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

bool clean_text_is_special(uint32_t code)
{
    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
        if (code >= specials[i].first && code <= specials[i].last)
            return true;
    return (code & 0xfffe) == 0xfffe;
}

/* Return the length in bytes of the character at `data` (len > 0), and its displayed form
 * in `shown`; "" means that the character is displayed unchanged. */
static size_t show_one(const char *data, size_t len, char shown[SHOWN_MAX])
{
    size_t n = utf8_sequence(data, len);
    uint32_t code = n > 0 ? utf8_code(data, n) : 0;

    shown[0] = '\0';
    if (n == 0 && data[0] != '\0')
        snprintf(shown, SHOWN_MAX, "\\x%02x", (unsigned)(unsigned char)data[0]);
    else if (code == '\n' || code == '\r')
        snprintf(shown, SHOWN_MAX, code == '\n' ? "\\n" : "\\r");
    else if (clean_text_is_special(code) && code != '\t')
        snprintf(shown, SHOWN_MAX, code > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)code);
    return n > 0 ? n : 1;
}

/* Return the number of bytes at `data` that are displayed unchanged. The next character,
 * if any, is *n bytes long and is displayed as `shown`. */
static size_t plain_length(const char *data, size_t len, bool keeps_lines,
                           char shown[SHOWN_MAX], size_t *n)
{
    size_t i = 0;

    *n = 0;
    shown[0] = '\0';
    while (i < len) {
        /* Fast path: most bytes are printable ASCII. */
        if (data[i] >= ' ' && data[i] <= '~') {
            i++;
            continue;
        }
        *n = show_one(data + i, len - i, shown);
        if (shown[0] && !(keeps_lines && data[i] == '\n'))
            return i;
        i += *n;
        *n = 0;
    }
    return i;
}

static int show(struct buf *out, const char *data, size_t len, bool keeps_lines)
{
    char shown[SHOWN_MAX];
    size_t n;

    while (len > 0) {
        size_t plain = plain_length(data, len, keeps_lines, shown, &n);

        if (buf_append(out, data, plain) || (n > 0 && buf_append_str(out, shown)))
            return -1;
        data += plain + n;
        len -= plain + n;
    }
    return 0;
}

int clean_text_append(struct buf *out, const char *data, size_t len)
{
    size_t start = 0, i = 0;

    while (i < len) {
        size_t n = utf8_sequence(data + i, len - i);

        if (n > 0 && data[i] != '\0') {
            i += n;
            continue;
        }
        if (buf_append(out, data + start, i - start) ||
            buf_append(out, "\xef\xbf\xbd", 3))
            return -1;
        start = ++i;
    }
    return buf_append(out, data + start, len - start);
}

json_t *clean_text_json(const char *data, size_t len)
{
    struct buf clean;
    json_t *string = NULL;

    buf_init(&clean, 3 * len + 1);
    if (clean_text_append(&clean, data, len) == 0)
        string = json_stringn(clean.data ? clean.data : "", clean.len);
    buf_release(&clean);
    return string;
}

int clean_text_show(struct buf *out, const char *data, size_t len)
{
    return show(out, data, len, false);
}

size_t clean_text_copy(char *out, size_t size, const char *data, size_t len)
{
    char shown[SHOWN_MAX];
    size_t used = 0;

    while (len > 0) {
        size_t n = show_one(data, len, shown);
        size_t width = shown[0] ? strlen(shown) : n;

        if (used + width >= size)
            break;
        memcpy(out + used, shown[0] ? shown : data, width);
        used += width;
        data += n;
        len -= n;
    }
    out[used] = '\0';
    return used;
}

static bool is_shown_as_is(const char *data, size_t len, bool keeps_lines)
{
    char shown[SHOWN_MAX];
    size_t n;

    return plain_length(data, len, keeps_lines, shown, &n) == len;
}

static json_t *shown_string(json_t *string, bool keeps_lines)
{
    const char *data = json_string_value(string);
    size_t len = json_string_length(string);
    struct buf out;
    json_t *copy;

    if (is_shown_as_is(data, len, keeps_lines))
        return json_incref(string);
    buf_init(&out, SHOWN_MAX * len);
    show(&out, data, len, keeps_lines);
    copy = json_stringn(out.data, out.len);
    buf_release(&out);
    return copy;
}

static json_t *shown_object(json_t *object, bool keeps_lines)
{
    json_t *copy = json_object();
    struct buf name;
    const char *key;
    json_t *value;

    json_object_foreach (object, key, value) {
        buf_init(&name, SHOWN_MAX * strlen(key) + 1);
        clean_text_show(&name, key, strlen(key));
        json_object_set_new(copy, name.data ? name.data : "",
                            clean_text_shown(value, keeps_lines));
        buf_release(&name);
    }
    return copy;
}

json_t *clean_text_shown(json_t *value, bool keeps_lines)
{
    json_t *copy, *item;
    size_t i;

    if (json_is_string(value))
        return shown_string(value, keeps_lines);
    if (json_is_object(value))
        return shown_object(value, keeps_lines);
    if (!json_is_array(value))
        return json_incref(value);
    copy = json_array();
    json_array_foreach (value, i, item)
        json_array_append_new(copy, clean_text_shown(item, keeps_lines));
    return copy;
}

bool clean_text_fault(const char *text, char fault[CLEAN_TEXT_FAULT_MAX])
{
    size_t len = strlen(text);

    while (len > 0) {
        size_t n = utf8_sequence(text, len);
        uint32_t code = n > 0 ? utf8_code(text, n) : 0;

        if (n == 0 || clean_text_is_special(code)) {
            if (n == 0)
                snprintf(fault, CLEAN_TEXT_FAULT_MAX, "byte %02X",
                         (unsigned)(unsigned char)*text);
            else
                snprintf(fault, CLEAN_TEXT_FAULT_MAX, "U+%04X", (unsigned)code);
            return true;
        }
        text += n;
        len -= n;
    }
    return false;
}
