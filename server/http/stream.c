/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - lets writers on the loop send responses of unknown length */
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "server/http/internal.h"

#define FULL ((size_t)1 << 20)

/* Return true if another stream may be opened. Otherwise refuse the request. */
static bool has_room(struct http_request *request)
{
    struct http_server *server = request->server;
    unsigned open;

    uv_mutex_lock(&server->lock);
    open = server->counters.streams;
    uv_mutex_unlock(&server->lock);
    if (open < server->max_streams)
        return true;
    http_reply_header(request, "Retry-After", "5");
    http_reply_problem(request, 503, NULL,
                       "%u streams are open, which is the maximum: try again later",
                       open);
    return false;
}

static void open_stream(struct http_stream *stream)
{
    struct http_server *server = stream->server;

    TAILQ_INSERT_TAIL(&server->streams, stream, all);
    uv_mutex_lock(&server->lock);
    server->counters.streams++;
    watch_start(server, &stream->watch);
    uv_mutex_unlock(&server->lock);
}

struct http_stream *http_stream_begin(struct http_request *request, int status,
                                      const char *content_type, void (*gone)(void *data),
                                      void *data)
{
    struct MHD_Response *response;
    struct http_stream *stream;

    if (!request->exchange || request->server->is_closing) {
        http_reply_problem(request, 503, NULL, "the server is stopping");
        return NULL;
    }
    /* libmicrohttpd 0.9.75 ends the answer to a HEAD with an empty chunk, which the
     * client would read as the next answer. */
    if (strcmp(request->method, "HEAD") == 0) {
        http_reply_text(request, status, content_type, "", 0);
        return NULL;
    }
    if (!has_room(request))
        return NULL;
    response = send_response(request->exchange, MHD_SIZE_UNKNOWN, &stream);
    stream->gone = gone;
    stream->data = data;
    MHD_add_response_header(response, "Content-Type", content_type);
    /* Without this header, nginx as a proxy delays events until its buffer is full. */
    MHD_add_response_header(response, "X-Accel-Buffering", "no");
    /* the request and the stream watch the same socket */
    http_request_park(request, NULL, NULL);
    open_stream(stream);
    request->exchange->is_stream = true;
    reply_finish(request, status, response);
    return stream;
}

/* The writer has finished. The stream is freed when both the writer and the library have
 * finished. */
static void end(struct http_stream *stream)
{
    struct http_server *server = stream->server;
    bool is_last;

    TAILQ_REMOVE(&server->streams, stream, all);
    uv_mutex_lock(&server->lock);
    stream->is_ended = true;
    send_unnotice(stream);
    send_resume(stream);
    is_last = stream->is_over;
    uv_mutex_unlock(&server->lock);
    if (is_last)
        free(stream);
}

static void run_gone(struct http_stream *stream)
{
    stream->is_gone = true;
    if (stream->gone)
        stream->gone(stream->data);
    end(stream);
}

void stream_run_notices(struct http_server *server, uint64_t until_ns)
{
    struct http_stream *stream;

    do {
        bool is_over = false, is_empty = false;

        uv_mutex_lock(&server->lock);
        stream = TAILQ_FIRST(&server->notices);
        if (stream) {
            send_unnotice(stream);
            is_over = stream->is_over;
            is_empty = send_queued(stream) == 0;
        }
        uv_mutex_unlock(&server->lock);
        if (is_over)
            run_gone(stream);
        else if (is_empty && stream->drained)
            stream->drained(stream->data);
    } while (stream && uv_hrtime() < until_ns);
}

void stream_close_all(struct http_server *server)
{
    struct http_stream *stream;

    while ((stream = TAILQ_FIRST(&server->streams)))
        run_gone(stream);
}

size_t http_stream_write(struct http_stream *stream, const void *data, size_t len)
{
    size_t queued;

    uv_mutex_lock(&stream->server->lock);
    if (!stream->is_cut && !stream->is_over && send_push(stream, data, len)) {
        log_warn("http: dropped a stream's client with %zu bytes unread",
                 send_queued(stream));
        send_cut(stream);
    }
    queued = send_queued(stream);
    uv_mutex_unlock(&stream->server->lock);
    return queued;
}

size_t http_stream_queued(const struct http_stream *stream)
{
    size_t queued;

    uv_mutex_lock(&stream->server->lock);
    queued = send_queued(stream);
    uv_mutex_unlock(&stream->server->lock);
    return queued;
}

bool http_stream_is_full(const struct http_stream *stream)
{
    size_t queued;
    bool is_high;

    uv_mutex_lock(&stream->server->lock);
    queued = send_queued(stream);
    is_high = send_is_high(stream->server);
    uv_mutex_unlock(&stream->server->lock);
    return queued > FULL || (queued > 0 && is_high);
}

void http_stream_on_drain(struct http_stream *stream, void (*drained)(void *data))
{
    stream->drained = drained;
}

void http_stream_end(struct http_stream *stream)
{
    end(stream);
}

void http_stream_abort(struct http_stream *stream)
{
    uv_mutex_lock(&stream->server->lock);
    stream->is_partial = true;
    uv_mutex_unlock(&stream->server->lock);
    if (!stream->is_gone)
        end(stream);
}
