/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_out.c - queues unsent replies to a client */
#include "server/rendezvous/tcpstore_out.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

#define COPY_MAX 1024 /* shorter values are copied into `bytes` */

struct tcpstore_value *tcpstore_value_resize(struct tcpstore_value *value,
                                             size_t capacity)
{
    value = realloc(value, sizeof(*value) + capacity + 1);
    if (!value)
        memory_out("a value of a rendezvous store");
    value->users = 1;
    return value;
}

void tcpstore_value_drop(struct tcpstore_value *value)
{
    if (value && --value->users == 0)
        free(value);
}

void tcpstore_out_init(struct tcpstore_out *out, size_t max)
{
    memset(out, 0, sizeof(*out));
    buf_init(&out->bytes, max);
}

static void clear(struct tcpstore_out *out, size_t keep)
{
    for (; out->pieces && out->next < out->n_pieces; out->next++)
        tcpstore_value_drop(out->pieces[out->next].value);
    free(out->pieces);
    out->pieces = NULL;
    out->n_pieces = out->capacity = out->next = 0;
    out->piece_bytes = out->bytes_sent = 0;
    if (out->bytes.capacity > keep)
        buf_release(&out->bytes);
    else
        buf_clear(&out->bytes);
}

void tcpstore_out_release(struct tcpstore_out *out)
{
    clear(out, 0);
}

size_t tcpstore_out_len(const struct tcpstore_out *out)
{
    return out->bytes.len - out->bytes_sent + out->piece_bytes;
}

static void add_piece(struct tcpstore_out *out, struct tcpstore_value *value, size_t len)
{
    out->pieces = memory_grown(out->pieces, out->n_pieces, &out->capacity,
                               sizeof(*out->pieces), "a reply of a rendezvous store");
    out->pieces[out->n_pieces++] = (struct tcpstore_piece){out->bytes.len, value, len, 0};
    value->users++;
    out->piece_bytes += len;
}

int tcpstore_out_put_value(struct tcpstore_out *out, struct tcpstore_value *value,
                           size_t len)
{
    size_t before = tcpstore_out_len(out);

    if (len > out->bytes.max || before > out->bytes.max - len)
        return -1;
    if (len < COPY_MAX || before + len <= TCPSTORE_STEP_BYTES)
        return buf_append(&out->bytes, value->data, len);
    add_piece(out, value, len);
    return 0;
}

size_t tcpstore_out_next(const struct tcpstore_out *out, const void **data)
{
    const struct tcpstore_piece *piece =
        out->next < out->n_pieces ? &out->pieces[out->next] : NULL;
    size_t end = piece ? piece->at : out->bytes.len;

    if (out->bytes_sent == end && piece) {
        *data = piece->value->data + piece->sent;
        return piece->len - piece->sent;
    }
    *data = out->bytes.data + out->bytes_sent;
    return end - out->bytes_sent;
}

void tcpstore_out_sent(struct tcpstore_out *out, size_t len, size_t keep)
{
    struct tcpstore_piece *piece =
        out->next < out->n_pieces ? &out->pieces[out->next] : NULL;

    if (!piece || out->bytes_sent < piece->at) {
        out->bytes_sent += len;
    } else {
        piece->sent += len;
        out->piece_bytes -= len;
        if (piece->sent == piece->len) {
            tcpstore_value_drop(piece->value);
            out->next++;
        }
    }
    if (tcpstore_out_len(out) == 0)
        clear(out, keep);
}
