/* SPDX-License-Identifier: Apache-2.0 */
/* event_stream.c - writes the events of ringbench-case as lines to its standard output */
#include "agent/case/event_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"

#define FULL_BYTES ((size_t)1024 * 1024)
#define PENDING_MAX ((size_t)1024 * 1024 * 1024)

struct written {
    uv_write_t request;
    struct event_stream *stream;
    char *text;
};

static size_t waiting(const struct event_stream *stream)
{
    return stream->pending.len +
           uv_stream_get_write_queue_size((const uv_stream_t *)&stream->pipe);
}

static void break_off(struct event_stream *stream)
{
    if (stream->is_broken)
        return;
    stream->is_broken = true;
    stream->on_broken(stream->arg);
}

static void note_room(struct event_stream *stream)
{
    bool is_full = waiting(stream) > (stream->is_full ? 0 : FULL_BYTES);

    if (is_full == stream->is_full)
        return;
    stream->is_full = is_full;
    stream->on_full(stream->arg, is_full);
}

static void note_end(struct event_stream *stream)
{
    if (!stream->is_ending || (waiting(stream) > 0 && !stream->is_broken))
        return;
    stream->is_ending = false;
    stream->on_written(stream->arg);
}

static void on_write(uv_write_t *request, int status)
{
    struct written *written = request->data;
    struct event_stream *stream = written->stream;

    free(written->text);
    free(written);
    if (status)
        break_off(stream);
    else
        note_room(stream);
    note_end(stream);
}

/* Called before the loop waits. One write contains all lines of an iteration, so that the
 * agent wakes only once. */
static void on_turn(uv_prepare_t *prepare)
{
    struct event_stream *stream = prepare->data;
    struct written *written;
    size_t len;
    uv_buf_t buf;

    if (stream->pending.len == 0 || stream->is_broken)
        return;
    written = memory_zeroed(1, sizeof(*written), "an event");
    written->stream = stream;
    written->request.data = written;
    written->text = buf_detach(&stream->pending, &len);
    buf = uv_buf_init(written->text, (unsigned)len);
    if (uv_write(&written->request, (uv_stream_t *)&stream->pipe, &buf, 1, on_write)) {
        free(written->text);
        free(written);
        break_off(stream);
    }
}

static void add_line(struct event_stream *stream, const char *prefix, const char *text,
                     size_t len)
{
    struct buf *pending = &stream->pending;

    if (stream->is_broken)
        return;
    if (buf_append_str(pending, prefix) || buf_append(pending, text, len) ||
        buf_append(pending, "\n", 1))
        memory_out("an event");
    note_room(stream);
}

void event_stream_open(struct event_stream *stream, uv_loop_t *loop, int fd)
{
    buf_init(&stream->pending, PENDING_MAX);
    uv_pipe_init(loop, &stream->pipe, 0);
    uv_pipe_open(&stream->pipe, fd);
    uv_prepare_init(loop, &stream->prepare);
    stream->prepare.data = stream;
    uv_prepare_start(&stream->prepare, on_turn);
}

void event_stream_text(struct event_stream *stream, enum event_kind kind,
                       const char *text)
{
    const char prefix[] = {(char)kind, ' ', '\0'};

    add_line(stream, prefix, text, strlen(text));
}

void event_stream_line(struct event_stream *stream, enum event_kind kind, int rank,
                       const char *line, size_t len)
{
    char prefix[32];

    snprintf(prefix, sizeof(prefix), "%c %d ", kind, rank);
    add_line(stream, prefix, line, len);
}

void event_stream_add(struct event_stream *stream, enum event_kind kind, int rank,
                      json_t *event)
{
    char *text = event ? json_text(event) : NULL;

    if (!text)
        memory_out("an event");
    event_stream_line(stream, kind, rank, text, strlen(text));
    free(text);
    json_decref(event);
}

void event_stream_end(struct event_stream *stream)
{
    stream->is_ending = true;
    note_end(stream);
}
