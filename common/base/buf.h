/* SPDX-License-Identifier: Apache-2.0 */
/* buf.h - a byte buffer that grows up to a stated maximum */
#ifndef RINGBENCH_COMMON_BASE_BUF_H
#define RINGBENCH_COMMON_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* content, NUL-terminated; NULL before the first byte */
    size_t len;
    size_t capacity;
    size_t max;  /* maximum number of content bytes */
    bool is_cut; /* true if data did not fit since buf_init() or buf_clear() */
};

/* Initialize an empty buffer with a limit of `max` bytes. Allocates nothing. */
void buf_init(struct buf *buf, size_t max);

/* Free the content. The buffer is then empty and can be used again. */
void buf_release(struct buf *buf);

/* Append data. Return -1 and leave the buffer unchanged if it would exceed `max` or
 * memory has run out. */
int buf_append(struct buf *buf, const void *data, size_t len);
int buf_append_str(struct buf *buf, const char *text);
int buf_printf(struct buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Drop the first n bytes (n <= len). */
void buf_consume(struct buf *buf, size_t n);

/* Drop the content but keep the memory. */
void buf_clear(struct buf *buf);

/* Transfer ownership of the content to the caller, and empty the buffer. Return "" for an
 * empty buffer, and NULL only if memory has run out. len may be NULL. */
char *buf_detach(struct buf *buf, size_t *len);

#endif
