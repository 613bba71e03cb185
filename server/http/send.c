/* SPDX-License-Identifier: Apache-2.0 */
/* send.c - sends answers in pieces: streams and large texts. Each answer has a queue of
 * bytes, which the library's threads empty.
 *
 * The total size of all queues is limited. Above the limit, the server drops the client
 * that has gone longest without reading. A client that never reads is therefore dropped
 * before one that reads slowly. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/memory.h"
#include "server/http/internal.h"

/* A client whose queue reaches this size is dropped. This protects the server's memory
 * from writers that ignore http_stream_queued(). */
#define QUEUE_MAX ((size_t)64 << 20)
#define BLOCK_BYTES ((size_t)32 << 10)

size_t send_queued(const struct http_stream *stream)
{
    return stream->queue.len - stream->sent;
}

/* Call after the queue has changed. A client that has read moves to the end of the list.
 */
static void count_unread(struct http_stream *stream, size_t before, bool has_read)
{
    struct http_server *server = stream->server;
    size_t after = send_queued(stream);

    server->counters.unread_bytes += after;
    server->counters.unread_bytes -= before;
    if (before > 0 && after > 0 && !has_read)
        return;
    if (before > 0)
        TAILQ_REMOVE(&server->unread, stream, unread);
    if (after > 0)
        TAILQ_INSERT_TAIL(&server->unread, stream, unread);
    stream->tick = server->tick;
}

static void release_queue(struct http_stream *stream)
{
    size_t before = send_queued(stream);

    buf_release(&stream->queue);
    stream->sent = 0;
    count_unread(stream, before, true);
}

void send_resume(struct http_stream *stream)
{
    if (!stream->is_suspended)
        return;
    if (stream->is_due)
        TAILQ_REMOVE(&stream->server->due, stream, due);
    stream->is_due = stream->is_suspended = false;
    MHD_resume_connection(stream->mhd);
}

/* Resume in the next iteration of the loop, so that everything written in this iteration
 * is sent together. */
static void resume_soon(struct http_stream *stream)
{
    if (!stream->is_suspended || stream->is_due)
        return;
    TAILQ_INSERT_TAIL(&stream->server->due, stream, due);
    stream->is_due = true;
    uv_async_send(&stream->server->wake);
}

void send_due(struct http_server *server)
{
    struct http_stream *stream;

    uv_mutex_lock(&server->lock);
    while ((stream = TAILQ_FIRST(&server->due)))
        send_resume(stream);
    uv_mutex_unlock(&server->lock);
}

/* The library may be waiting for space in the socket, so the socket is shut down. */
void send_cut(struct http_stream *stream)
{
    stream->is_cut = true;
    release_queue(stream);
    if (!stream->is_over)
        shutdown(stream->connection->fd, SHUT_RDWR);
    send_resume(stream);
}

static void drop_longest(struct http_server *server)
{
    server->counters.dropped++;
    send_cut(TAILQ_FIRST(&server->unread));
}

static void keep_limit(struct http_server *server)
{
    while (server->counters.unread_bytes > server->max_unread)
        drop_longest(server);
}

bool send_is_high(const struct http_server *server)
{
    return server->counters.unread_bytes > server->max_unread / 2;
}

void send_tick(struct http_server *server, unsigned patience)
{
    server->tick++;
    while (send_is_high(server) &&
           server->tick - TAILQ_FIRST(&server->unread)->tick > patience)
        drop_longest(server);
}

int send_push(struct http_stream *stream, const void *data, size_t len)
{
    size_t before = send_queued(stream);

    if (buf_append(&stream->queue, data, len))
        return -1;
    count_unread(stream, before, false);
    if (len > 0)
        resume_soon(stream);
    keep_limit(stream->server);
    return 0;
}

/* Have the loop run the stream's callbacks. */
static void send_notice(struct http_stream *stream)
{
    if (stream->is_noticed)
        return;
    TAILQ_INSERT_TAIL(&stream->server->notices, stream, notices);
    stream->is_noticed = true;
    uv_async_send(&stream->server->wake);
}

void send_unnotice(struct http_stream *stream)
{
    if (stream->is_noticed)
        TAILQ_REMOVE(&stream->server->notices, stream, notices);
    stream->is_noticed = false;
}

/* Free sent memory: a stream may be idle for hours. */
static size_t pop(struct http_stream *stream, char *out, size_t max)
{
    size_t before = send_queued(stream), n = before < max ? before : max;

    memcpy(out, stream->queue.data + stream->sent, n);
    stream->sent += n;
    if (stream->sent == stream->queue.len) {
        buf_release(&stream->queue);
        stream->sent = 0;
    } else if (stream->sent > stream->queue.len / 2) {
        buf_consume(&stream->queue, stream->sent);
        stream->sent = 0;
    }
    count_unread(stream, before, true);
    if (stream->is_text)
        connection_wait_for_reading(stream->connection);
    if (send_queued(stream) == 0 && !stream->is_ended)
        send_notice(stream);
    if (stream->server->has_turns)
        uv_async_send(&stream->server->wake);
    return n;
}

/* Runs on a library thread when the connection can send more. */
static ssize_t read_queue(void *cls, uint64_t pos, char *out, size_t max)
{
    struct http_stream *stream = cls;
    ssize_t result = 0;

    (void)pos;
    uv_mutex_lock(&stream->server->lock);
    if (stream->is_cut) {
        result = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (send_queued(stream) > 0) {
        result = (ssize_t)pop(stream, out, max);
    } else if (stream->is_ended) {
        result = stream->is_partial ? MHD_CONTENT_READER_END_WITH_ERROR
                                    : MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        MHD_suspend_connection(stream->mhd);
        stream->is_suspended = true;
    }
    uv_mutex_unlock(&stream->server->lock);
    return result;
}

/* Runs on a library thread when the response or its connection has ended. */
static void finish(void *cls)
{
    struct http_stream *stream = cls;
    struct http_server *server = stream->server;
    bool is_last;

    uv_mutex_lock(&server->lock);
    watch_stop(server, &stream->watch);
    stream->is_over = true;
    release_queue(stream);
    server->counters.streams -= !stream->is_text;
    send_unnotice(stream);
    is_last = stream->is_ended;
    if (!is_last)
        send_notice(stream);
    uv_mutex_unlock(&server->lock);
    if (is_last)
        free(stream);
}

static void on_lost(struct watch *watch)
{
    struct http_stream *stream = watch->owner;

    watch_stop(stream->server, watch);
    send_cut(stream);
}

struct MHD_Response *send_response(struct exchange *exchange, uint64_t size,
                                   struct http_stream **out)
{
    struct http_stream *stream = memory_zeroed(1, sizeof(*stream), "an answer");
    struct MHD_Response *response;

    stream->server = exchange->server;
    stream->connection = exchange->connection;
    stream->mhd = exchange->mhd;
    stream->watch = (struct watch){
        .owner = stream, .fd = exchange->connection->fd, .callback = on_lost};
    buf_init(&stream->queue, QUEUE_MAX);
    response =
        MHD_create_response_from_callback(size, BLOCK_BYTES, read_queue, stream, finish);
    if (!response)
        memory_out("an answer");
    *out = stream;
    return response;
}

struct MHD_Response *send_text(struct exchange *exchange, char *data, size_t len)
{
    struct http_server *server = exchange->server;
    struct http_stream *stream;
    struct MHD_Response *response = send_response(exchange, len, &stream);

    stream->is_text = stream->is_ended = true;
    stream->queue = (struct buf){.data = data, .len = len, .capacity = len, .max = len};
    uv_mutex_lock(&server->lock);
    count_unread(stream, 0, false);
    keep_limit(server);
    uv_mutex_unlock(&server->lock);
    return response;
}
