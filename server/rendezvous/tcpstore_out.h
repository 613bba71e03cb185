/* tcpstore_out.h - what is to be sent to a client: bytes, and between them values, which
 * are sent from where the store has them, a piece at a time. No sockets. */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_OUT_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_OUT_H

#include <sys/uio.h>

#include "common/base/buf.h"

/* As much is sent at once as costs the others little. */
#define TCPSTORE_STEP_BYTES 65536

/* Shared by the store's key and the replies under way that have it. Those have its first
 * bytes as they were: who changes these while there are other users makes a new one. */
struct tcpstore_value {
    size_t users;
    unsigned char data[];
};

/* One user; NULL when memory is out. */
struct tcpstore_value *tcpstore_value_create(size_t capacity);
/* One user less. NULL is fine. */
void tcpstore_value_drop(struct tcpstore_value *value);

struct tcpstore_out {
    struct buf bytes; /* append to it what is no value of the store */
    struct tcpstore_piece {
        size_t at; /* of `bytes` come before it */
        struct tcpstore_value *value;
        size_t len;
    } * pieces;
    size_t n_pieces, capacity;
    size_t piece_bytes; /* of those not yet sent */
    size_t bytes_sent, pieces_sent, piece_sent;
};

/* At most max bytes at a time. */
void tcpstore_out_init(struct tcpstore_out *out, size_t max);
void tcpstore_out_release(struct tcpstore_out *out);

/* Bytes not yet sent. */
size_t tcpstore_out_len(const struct tcpstore_out *out);

/* Append the first len bytes of a value: a copy where all still goes out in one step.
 * -1 and nothing changed when that is too much. */
int tcpstore_out_put_value(struct tcpstore_out *out, struct tcpstore_value *value,
                           size_t len);

/* What to send next, at most TCPSTORE_STEP_BYTES in at most n parts; returns how many
 * parts. Valid until tcpstore_out_sent() or _release(); appending changes it. */
size_t tcpstore_out_next(const struct tcpstore_out *out, struct iovec *parts, size_t n);

/* So many bytes of that are sent. When nothing is left, memory beyond `keep` is freed. */
void tcpstore_out_sent(struct tcpstore_out *out, size_t len, size_t keep);

#endif
