/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.c - checks whether text is valid UTF-8 (RFC 3629) */
#include "common/base/utf8.h"

#include <string.h>

/* Set *low and *high to the lowest and highest valid second byte. The range excludes
 * overlong forms, surrogates and code points above U+10FFFF. */
static void second_byte(unsigned char first, unsigned char *low, unsigned char *high)
{
    *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
}

static size_t announced(unsigned char first)
{
    if (first < 0x80)
        return first != 0;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    if (first >= 0xf0 && first <= 0xf4)
        return 4;
    return 0;
}

size_t utf8_sequence(const char *data, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)data;
    unsigned char low, high;
    size_t n = len > 0 ? announced(bytes[0]) : 0;

    if (n < 2)
        return n;
    if (len < n)
        return 0;
    second_byte(bytes[0], &low, &high);
    if (bytes[1] < low || bytes[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (bytes[i] < 0x80 || bytes[i] > 0xbf)
            return 0;
    return n;
}

uint32_t utf8_code(const char *sequence, size_t n)
{
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)sequence[0] & lead_bits[n];

    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)sequence[i] & 0x3f);
    return code;
}

int utf8_fit(const char *text, int most)
{
    size_t len = strnlen(text, (size_t)most), at = len;

    while (at > 0 && len - at < 3 && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
        at--;
    if (at > 0 && announced((unsigned char)text[at - 1]) > len - at + 1)
        return (int)at - 1;
    return (int)len;
}

void utf8_trim(char *text)
{
    text[utf8_fit(text, (int)strlen(text))] = '\0';
}

void utf8_clean(char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len;) {
        size_t n = utf8_sequence(text + i, len - i);

        if (n == 0)
            text[i] = '?';
        i += n ? n : 1;
    }
}
