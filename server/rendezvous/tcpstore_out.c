/* tcpstore_out.c - what is to be sent to a client: bytes, and between them values */
#include "server/rendezvous/tcpstore_out.h"

#include <stdlib.h>
#include <string.h>

#define COPY_MAX 256 /* a shorter value is not worth a piece */

struct tcpstore_value *tcpstore_value_create(size_t capacity)
{
    struct tcpstore_value *value = malloc(sizeof(*value) + capacity);

    if (value)
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

static void clear_bytes(struct tcpstore_out *out, size_t keep)
{
    out->bytes_sent = 0;
    if (out->bytes.capacity > keep)
        buf_release(&out->bytes);
    else
        buf_clear(&out->bytes);
}

static void forget_pieces(struct tcpstore_out *out)
{
    for (size_t i = out->pieces_sent; out->pieces && i < out->n_pieces; i++)
        tcpstore_value_drop(out->pieces[i].value);
    free(out->pieces);
    out->pieces = NULL;
    out->n_pieces = out->capacity = 0;
    out->piece_bytes = out->pieces_sent = out->piece_sent = 0;
}

void tcpstore_out_release(struct tcpstore_out *out)
{
    forget_pieces(out);
    clear_bytes(out, 0);
}

size_t tcpstore_out_len(const struct tcpstore_out *out)
{
    return out->bytes.len - out->bytes_sent + out->piece_bytes;
}

static int add_piece(struct tcpstore_out *out, struct tcpstore_value *value, size_t len)
{
    if (out->n_pieces == out->capacity) {
        size_t capacity = out->capacity ? out->capacity * 2 : 8;
        void *grown = realloc(out->pieces, capacity * sizeof(*out->pieces));

        if (!grown)
            return -1;
        out->pieces = grown;
        out->capacity = capacity;
    }
    out->pieces[out->n_pieces++] = (struct tcpstore_piece){out->bytes.len, value, len};
    value->users++;
    out->piece_bytes += len;
    return 0;
}

int tcpstore_out_put_value(struct tcpstore_out *out, struct tcpstore_value *value,
                           size_t len)
{
    size_t now = tcpstore_out_len(out);

    if (len > out->bytes.max || now > out->bytes.max - len)
        return -1;
    if (len < COPY_MAX || now + len <= TCPSTORE_STEP_BYTES)
        return buf_append(&out->bytes, value->data, len);
    return add_piece(out, value, len);
}

size_t tcpstore_out_next(const struct tcpstore_out *out, struct iovec *parts, size_t n)
{
    size_t room = TCPSTORE_STEP_BYTES, count = 0;
    size_t at = out->bytes_sent, i = out->pieces_sent, done = out->piece_sent;

    while (count < n && room) {
        const struct tcpstore_piece *piece = i < out->n_pieces ? &out->pieces[i] : NULL;
        size_t end = piece ? piece->at : out->bytes.len, len;

        if (at < end) {
            len = end - at;
            parts[count].iov_base = out->bytes.data + at;
        } else if (piece) {
            len = piece->len - done;
            parts[count].iov_base = piece->value->data + done;
        } else {
            break;
        }
        len = len < room ? len : room;
        parts[count++].iov_len = len;
        room -= len;
        if (at < end) {
            at += len;
        } else {
            done += len;
            i += done == piece->len;
            done = done == piece->len ? 0 : done;
        }
    }
    return count;
}

void tcpstore_out_sent(struct tcpstore_out *out, size_t len, size_t keep)
{
    if (!out->n_pieces && len == out->bytes.len && !out->bytes_sent) {
        clear_bytes(out, keep);
        return;
    }
    while (len) {
        struct tcpstore_piece *piece =
            out->pieces_sent < out->n_pieces ? &out->pieces[out->pieces_sent] : NULL;
        size_t end = piece ? piece->at : out->bytes.len, part;

        if (out->bytes_sent < end) {
            part = end - out->bytes_sent < len ? end - out->bytes_sent : len;
            out->bytes_sent += part;
        } else if (!piece) {
            break;
        } else {
            part = piece->len - out->piece_sent;
            part = part < len ? part : len;
            out->piece_sent += part;
            out->piece_bytes -= part;
            if (out->piece_sent == piece->len) {
                tcpstore_value_drop(piece->value);
                out->pieces_sent++;
                out->piece_sent = 0;
            }
        }
        len -= part;
    }
    if (tcpstore_out_len(out))
        return;
    forget_pieces(out);
    clear_bytes(out, keep);
}
