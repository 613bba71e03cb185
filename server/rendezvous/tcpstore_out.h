/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_out.h - replies to a client that are not sent yet: bytes, and between them
 * long values, which are sent from where the store has them. No sockets. */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_OUT_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_OUT_H

#include "common/base/buf.h"

/* So much is sent to one client at once; then others get their turn. */
#define TCPSTORE_STEP_BYTES 65536

/* A key's value, which replies that are being sent refer to. It is not changed while it
 * has several users: setting the key then replaces the value. */
struct tcpstore_value {
    size_t users;
    unsigned char data[];
};

/* A value of one user with room for `capacity` bytes and a NUL. `value`, unless it is
 * NULL, must have one user: it keeps its first bytes and may move. */
struct tcpstore_value *tcpstore_value_resize(struct tcpstore_value *value,
                                             size_t capacity);
/* One user less. NULL is fine. */
void tcpstore_value_drop(struct tcpstore_value *value);

struct tcpstore_out {
    struct buf bytes; /* append everything to it except values */
    size_t bytes_sent;
    struct tcpstore_piece {
        size_t at; /* it follows so many of `bytes` */
        struct tcpstore_value *value;
        size_t len, sent;
    } * pieces;
    size_t n_pieces, capacity, next; /* next: the first that is not sent */
    size_t piece_bytes;              /* not sent */
};

/* At most max bytes at a time. */
void tcpstore_out_init(struct tcpstore_out *out, size_t max);
void tcpstore_out_release(struct tcpstore_out *out);

/* Bytes not yet sent. */
size_t tcpstore_out_len(const struct tcpstore_out *out);

/* Append the first len bytes of a value. -1 and nothing changed when that is too much. */
int tcpstore_out_put_value(struct tcpstore_out *out, struct tcpstore_value *value,
                           size_t len);

/* The next bytes to send; returns how many. Valid until `out` changes. */
size_t tcpstore_out_next(const struct tcpstore_out *out, const void **data);

/* So many of these are sent. When nothing is left, memory beyond `keep` is freed. */
void tcpstore_out_sent(struct tcpstore_out *out, size_t len, size_t keep);

#endif
