/* store_cursor.c - the opaque cursor of the run list, in base64url (RFC 4648) */
#include "server/store/store_cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_MAX 96

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int store_cursor_format(int64_t created_ms, const char *id,
                        char text[STORE_CURSOR_TEXT_MAX])
{
    char plain[PLAIN_MAX];
    uint32_t bits = 0;
    int held = 0;
    int len;

    if (strlen(id) > STORE_CURSOR_ID_MAX)
        return -1;
    len = snprintf(plain, sizeof(plain), "%" PRId64 ":%s", created_ms, id);
    for (int i = 0; i < len; i++) {
        bits = bits << 8 | (unsigned char)plain[i];
        for (held += 8; held >= 6; held -= 6)
            *text++ = alphabet[bits >> (held - 6) & 63];
    }
    if (held)
        *text++ = alphabet[bits << (6 - held) & 63];
    *text = '\0';
    return 0;
}

static int decode(const char *text, char plain[PLAIN_MAX])
{
    uint32_t bits = 0;
    int held = 0;
    int len = 0;

    for (; *text; text++) {
        const char *digit = strchr(alphabet, *text);
        if (!digit)
            return -1;
        bits = bits << 6 | (uint32_t)(digit - alphabet);
        held += 6;
        if (held < 8)
            continue;
        held -= 8;
        plain[len++] = (char)(bits >> held & 255);
        if (len == PLAIN_MAX || !plain[len - 1])
            return -1;
    }
    plain[len] = '\0';
    return 0;
}

int store_cursor_parse(const char *text, int64_t *created_ms, char *id)
{
    char plain[PLAIN_MAX];
    char *end;
    int64_t created;

    if (decode(text, plain) < 0)
        return -1;
    errno = 0;
    created = strtoll(plain, &end, 10);
    if (errno || end == plain || *end != ':' || strlen(end + 1) > STORE_CURSOR_ID_MAX)
        return -1;
    *created_ms = created;
    memcpy(id, end + 1, strlen(end + 1) + 1);
    return 0;
}
