/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_out.h - queues unsent replies to a client. Short replies are copied; long
 * values are sent from the store's memory. No sockets. */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_OUT_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_OUT_H

#include "common/base/buf.h"

/* Maximum number of bytes sent to one client before other clients are served. */
#define TCPSTORE_STEP_BYTES 65536

/* A key's value, to which unsent replies can also refer. If a value has several users,
 * setting the key replaces the value instead of changing it. */
struct tcpstore_value {
    size_t users;
    unsigned char data[];
};

/* Return a value with one user and room for `capacity` bytes and a NUL. value: NULL, or a
 * value with one user, which is resized and may move. */
struct tcpstore_value *tcpstore_value_resize(struct tcpstore_value *value,
                                             size_t capacity);
/* Remove one user from the value. When the last user is removed, the value is freed. NULL
 * is allowed. */
void tcpstore_value_drop(struct tcpstore_value *value);

struct tcpstore_out {
    struct buf bytes; /* all replies except long values */
    size_t bytes_sent;
    struct tcpstore_piece {
        size_t at; /* offset in `bytes` after which the value is sent */
        struct tcpstore_value *value;
        size_t len, sent;
    } * pieces;
    size_t n_pieces, capacity, next; /* next: index of the first unsent piece */
    size_t piece_bytes;              /* number of unsent bytes in pieces */
};

/* Initialize a queue of at most `max` bytes. */
void tcpstore_out_init(struct tcpstore_out *out, size_t max);
void tcpstore_out_release(struct tcpstore_out *out);

/* Return the number of unsent bytes. */
size_t tcpstore_out_len(const struct tcpstore_out *out);

/* Append the first `len` bytes of a value. Returns -1, without a change, if the limit
 * would be exceeded. */
int tcpstore_out_put_value(struct tcpstore_out *out, struct tcpstore_value *value,
                           size_t len);

/* Point *data to the next bytes to send, and return their number. *data is valid until
 * `out` changes. */
size_t tcpstore_out_next(const struct tcpstore_out *out, const void **data);

/* Mark `len` bytes as sent. Once all bytes are sent, free the buffer if it is larger than
 * `keep`. */
void tcpstore_out_sent(struct tcpstore_out *out, size_t len, size_t keep);

#endif
