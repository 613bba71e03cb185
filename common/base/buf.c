/* SPDX-License-Identifier: Apache-2.0 */
/* buf.c - a byte buffer that grows up to a stated maximum */
#include "common/base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *buf, size_t max)
{
    memset(buf, 0, sizeof(*buf));
    buf->max = max;
}

void buf_release(struct buf *buf)
{
    free(buf->data);
    buf_init(buf, buf->max);
}

/* Make room for `extra` bytes and a NUL. */
static int reserve(struct buf *buf, size_t extra)
{
    size_t need, capacity;
    char *data;

    assert(buf->len <= buf->max);
    /* The second check keeps `need` and the doubled capacity from wrapping around. */
    if (extra > buf->max - buf->len || extra >= SIZE_MAX / 2 - buf->len) {
        buf->is_cut = true;
        return -1;
    }
    need = buf->len + extra + 1;
    if (need <= buf->capacity)
        return 0;
    capacity = buf->capacity ? buf->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    data = realloc(buf->data, capacity);
    if (!data)
        return -1;
    buf->data = data;
    buf->capacity = capacity;
    return 0;
}

int buf_append(struct buf *buf, const void *data, size_t len)
{
    if (reserve(buf, len))
        return -1;
    if (len > 0)
        memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return 0;
}

int buf_append_str(struct buf *buf, const char *text)
{
    return buf_append(buf, text, strlen(text));
}

int buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || reserve(buf, (size_t)n))
        return -1;
    va_start(args, format);
    vsnprintf(buf->data + buf->len, (size_t)n + 1, format, args);
    va_end(args);
    buf->len += (size_t)n;
    return 0;
}

void buf_consume(struct buf *buf, size_t n)
{
    assert(n <= buf->len);
    if (n == 0)
        return;
    memmove(buf->data, buf->data + n, buf->len - n);
    buf->len -= n;
    buf->data[buf->len] = '\0';
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->is_cut = false;
    if (buf->data)
        buf->data[0] = '\0';
}

char *buf_detach(struct buf *buf, size_t *len)
{
    char *data = buf->data ? buf->data : strdup("");

    if (len)
        *len = buf->len;
    buf_init(buf, buf->max);
    return data;
}
