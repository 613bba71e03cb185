/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_out.h - unsent replies to a client: bytes, and references to long values,
 * which are sent from the store's memory. No sockets. */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_OUT_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_OUT_H

#include "common/base/buf.h"

/* Bytes sent to one client in a row, before other clients get their turn. */
#define TCPSTORE_STEP_BYTES 65536

/* A key's value, which unsent replies may refer to. While it has several users it is not
 * changed: setting the key replaces the value. */
struct tcpstore_value {
    size_t users;
    unsigned char data[];
};

/* A value with one user and room for `capacity` bytes and a NUL. `value`, unless NULL,
 * must have one user; its first bytes are kept, and it may move. */
struct tcpstore_value *tcpstore_value_resize(struct tcpstore_value *value,
                                             size_t capacity);
/* Remove a user; the last one frees the value. NULL is fine. */
void tcpstore_value_drop(struct tcpstore_value *value);

struct tcpstore_out {
    struct buf bytes; /* all replies except long values */
    size_t bytes_sent;
    struct tcpstore_piece {
        size_t at; /* offset in `bytes` after which the value is sent */
        struct tcpstore_value *value;
        size_t len, sent;
    } * pieces;
    size_t n_pieces, capacity, next; /* next: the first unsent one */
    size_t piece_bytes;              /* unsent bytes of values */
};

/* Holds at most max bytes at a time. */
void tcpstore_out_init(struct tcpstore_out *out, size_t max);
void tcpstore_out_release(struct tcpstore_out *out);

/* Bytes not yet sent. */
size_t tcpstore_out_len(const struct tcpstore_out *out);

/* Append the first len bytes of a value. -1, without a change, if the limit is
 * exceeded. */
int tcpstore_out_put_value(struct tcpstore_out *out, struct tcpstore_value *value,
                           size_t len);

/* Get the next bytes to send; returns their number. Valid until `out` changes. */
size_t tcpstore_out_next(const struct tcpstore_out *out, const void **data);

/* Mark bytes as sent. When nothing is left, memory beyond `keep` is freed. */
void tcpstore_out_sent(struct tcpstore_out *out, size_t len, size_t keep);

#endif
