/* stream.c - responses that go on: a queue of bytes between a writer and a connection */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/log.h"
#include "server/http/internal.h"

/* A writer that ignores http_stream_queued loses its client here, not the server's
 * memory. */
#define QUEUE_MAX ((size_t)64 << 20)
#define FULL ((size_t)1 << 20)
#define BLOCK_SIZE 4096

struct http_stream {
    struct http_server *server;
    struct http_request *request; /* NULL when the connection is done with it */
    struct byte_queue queue;
    struct backlog_entry unread;
    void (*gone)(void *data);
    void (*drained)(void *data);
    void *data;
    bool is_ended;   /* the writer is done, or was told that it is over */
    bool is_cut;     /* send nothing more */
    bool is_partial; /* once ended: the client must not take it for whole */
    bool is_noticed;
    TAILQ_ENTRY(http_stream) notices;
};

static void notice(struct http_stream *stream)
{
    if (stream->is_noticed)
        return;
    TAILQ_INSERT_TAIL(&stream->server->notices, stream, notices);
    stream->is_noticed = true;
}

static void unnotice(struct http_stream *stream)
{
    if (!stream->is_noticed)
        return;
    TAILQ_REMOVE(&stream->server->notices, stream, notices);
    stream->is_noticed = false;
}

static void release_queue(struct http_stream *stream)
{
    byte_queue_release(&stream->queue);
    backlog_clear(&stream->server->backlog, &stream->unread);
}

static void stream_free(struct http_stream *stream)
{
    unnotice(stream);
    release_queue(stream);
    free(stream);
}

void stream_run_notices(struct http_server *server)
{
    struct http_stream *stream;

    while ((stream = TAILQ_FIRST(&server->notices))) {
        TAILQ_REMOVE(&server->notices, stream, notices);
        stream->is_noticed = false;
        if (!stream->request) {
            void (*gone)(void *data) = stream->gone;
            void *data = stream->data;

            stream->gone = NULL;
            if (gone)
                gone(data);
            stream_free(stream);
        } else if (stream->drained && stream->queue.len == 0) {
            stream->drained(stream->data);
        }
    }
}

/* Called by the library when it can send; no user code runs from here. */
static ssize_t read_stream(void *cls, uint64_t pos, char *out, size_t max)
{
    struct http_stream *stream = cls;
    struct http_request *request = stream->request;
    size_t n;

    (void)pos;
    if (stream->is_cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    n = byte_queue_pop(&stream->queue, out, max);
    if (n > 0) {
        backlog_take(&stream->server->backlog, &stream->unread, (size_t)n);
        if (stream->queue.len == 0 && stream->drained && !stream->is_ended)
            notice(stream);
        return (ssize_t)n;
    }
    if (stream->is_ended)
        return stream->is_partial ? MHD_CONTENT_READER_END_WITH_ERROR
                                  : MHD_CONTENT_READER_END_OF_STREAM;
    MHD_suspend_connection(request->connection->mhd);
    request->is_suspended = true;
    request->server->n_suspended++;
    connection_watch_end(request->connection);
    return 0;
}

/* The library may be waiting for room in the socket. */
static void drop_stream(struct backlog_entry *unread)
{
    struct http_stream *stream = unread->owner;

    if (stream->request)
        shutdown(stream->request->connection->fd, SHUT_RDWR);
    stream_cut(stream);
}

static struct http_stream *stream_new(struct http_request *request)
{
    struct http_stream *stream = calloc(1, sizeof(*stream));

    if (stream) {
        stream->server = request->server;
        stream->request = request;
        byte_queue_init(&stream->queue);
        stream->unread.drop = drop_stream;
        stream->unread.owner = stream;
    }
    return stream;
}

struct http_stream *http_stream_begin(struct http_request *request, int status,
                                      const char *content_type, void (*gone)(void *data),
                                      void *data)
{
    struct http_server *server = request->server;
    struct MHD_Response *response;
    struct http_stream *stream;

    if (request->is_abandoned || server->is_closing) {
        http_reply_problem(request, 503, NULL, "the server is stopping");
        return NULL;
    }
    /* libmicrohttpd 0.9.75 would end the answer to a HEAD with an empty chunk, which the
     * client takes for the next answer. */
    if (strcmp(request->method, "HEAD") == 0) {
        http_reply_text(request, status, content_type, "", 0);
        return NULL;
    }
    if (server->counters.streams >= server->max_streams) {
        http_reply_header(request, "Retry-After", "5");
        http_reply_problem(request, 503, NULL, "%u streams are open, which is the most",
                           server->counters.streams);
        return NULL;
    }
    stream = stream_new(request);
    response = stream ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE,
                                                          read_stream, stream, NULL)
                      : NULL;
    if (!response) {
        free(stream);
        http_reply_problem(request, 503, NULL, "out of memory");
        return NULL;
    }
    MHD_add_response_header(response, "Content-Type", content_type);
    /* nginx in front would hold events back until its buffer is full. */
    MHD_add_response_header(response, "X-Accel-Buffering", "no");
    request->gone = NULL;
    stream->gone = gone;
    stream->data = data;
    server->counters.streams++;
    reply_finish(request, status, response);
    request->stream = stream;
    return stream;
}

void stream_completed(struct http_stream *stream)
{
    stream->server->counters.streams--;
    stream->request = NULL;
    if (stream->is_ended)
        stream_free(stream);
    else
        notice(stream);
}

void stream_cut(struct http_stream *stream)
{
    stream->is_cut = true;
    release_queue(stream);
    if (stream->request)
        request_resume(stream->request);
}

void stream_server_closing(struct http_stream *stream)
{
    void (*gone)(void *data) = stream->gone;

    if (stream->is_ended)
        return;
    stream->is_ended = true;
    stream->gone = NULL;
    unnotice(stream);
    request_resume(stream->request);
    if (gone)
        gone(stream->data);
}

size_t http_stream_write(struct http_stream *stream, const void *data, size_t len)
{
    if (stream->is_cut || !stream->request)
        return 0;
    if (len > QUEUE_MAX - stream->queue.len ||
        byte_queue_push(&stream->queue, data, len)) {
        log_warn("http: a stream's client is %zu bytes behind and is dropped",
                 stream->queue.len);
        stream_cut(stream);
        return 0;
    }
    if (len == 0)
        return stream->queue.len;
    request_resume(stream->request);
    backlog_add(&stream->server->backlog, &stream->unread, len);
    return stream->queue.len;
}

bool http_stream_is_full(const struct http_stream *stream)
{
    return stream->queue.len > FULL ||
           (stream->queue.len > 0 && backlog_is_high(&stream->server->backlog));
}

size_t http_stream_queued(const struct http_stream *stream)
{
    return stream->queue.len;
}

void http_stream_on_drain(struct http_stream *stream, void (*drained)(void *data))
{
    stream->drained = drained;
}

void http_stream_abort(struct http_stream *stream)
{
    stream->is_partial = true;
    /* Within `gone` the stream has ended, or goes right after. */
    if (!stream->is_ended && stream->request)
        http_stream_end(stream);
}

void http_stream_end(struct http_stream *stream)
{
    if (!stream->request) {
        stream_free(stream);
        return;
    }
    stream->is_ended = true;
    stream->gone = NULL;
    stream->drained = NULL;
    unnotice(stream);
    request_resume(stream->request);
}
