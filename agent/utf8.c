/* utf8.c - make any bytes fit for a JSON string */
#include "agent/utf8.h"

#include <stdbool.h>
#include <stdint.h>

/* Length of the valid sequence at data, 0 if there is none. RFC 3629, section 4. */
static size_t sequence(const unsigned char *data, size_t len)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t n;

    if (data[0] < 0x80)
        return data[0] != 0;
    if (data[0] >= 0xc2 && data[0] <= 0xdf)
        n = 2;
    else if (data[0] >= 0xe0 && data[0] <= 0xef)
        n = 3;
    else if (data[0] >= 0xf0 && data[0] <= 0xf4)
        n = 4;
    else
        return 0;
    if (len < n)
        return 0;
    /* Overlong forms, surrogates and what lies above U+10FFFF. */
    if (data[0] == 0xe0)
        low = 0xa0;
    if (data[0] == 0xed)
        high = 0x9f;
    if (data[0] == 0xf0)
        low = 0x90;
    if (data[0] == 0xf4)
        high = 0x8f;
    if (data[1] < low || data[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++) {
        if (data[i] < 0x80 || data[i] > 0xbf)
            return 0;
    }
    return n;
}

int utf8_append_clean(struct buf *out, const char *data, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)data;
    size_t start = 0, i = 0;

    while (i < len) {
        size_t n = sequence(bytes + i, len - i);

        if (n > 0) {
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

json_t *utf8_json(const char *data, size_t len)
{
    struct buf clean;
    json_t *string = NULL;

    buf_init(&clean, 3 * len + 1);
    if (utf8_append_clean(&clean, data, len) == 0)
        string = json_stringn(clean.data ? clean.data : "", clean.len);
    buf_release(&clean);
    return string;
}
