/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_requests.h - TCPStore requests as bytes, written from the protocol and not
 * from the server's code */
#ifndef RINGBENCH_TESTS_UNIT_TCPSTORE_REQUESTS_H
#define RINGBENCH_TESTS_UNIT_TCPSTORE_REQUESTS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/buf.h"

#define REQUEST_MAX ((size_t)64 << 20)

static inline void put_little_endian(struct buf *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)(value >> (8 * i));
        buf_append(out, &byte, 1);
    }
}

static inline void put_bytes(struct buf *out, const void *data, size_t len)
{
    put_little_endian(out, len, 8);
    buf_append(out, data, len);
}

/* Append a request: its type byte, then by `format` s: const char *, z: a string of as
 * many 'x' as the uint64_t says, q: int64_t, u: unsigned, b: unsigned (one byte). */
static inline void put_request(struct buf *out, int type, const char *format, ...)
{
    va_list args;

    put_little_endian(out, (uint64_t)type, 1);
    va_start(args, format);
    for (; *format; format++) {
        if (*format == 's') {
            const char *text = va_arg(args, const char *);
            put_bytes(out, text, strlen(text));
        } else if (*format == 'z') {
            uint64_t len = va_arg(args, uint64_t);
            put_little_endian(out, len, 8);
            for (; len >= 8; len -= 8)
                buf_append(out, "xxxxxxxx", 8);
            buf_append(out, "xxxxxxxx", len);
        } else if (*format == 'q') {
            put_little_endian(out, (uint64_t)va_arg(args, int64_t), 8);
        } else {
            put_little_endian(out, va_arg(args, unsigned), *format == 'u' ? 4 : 1);
        }
    }
    va_end(args);
}

#define N(value) ((int64_t)(value))

static inline void put_hello(struct buf *out)
{
    put_request(out, 0, "u", 0x3C85F7CEu);
}

#endif
