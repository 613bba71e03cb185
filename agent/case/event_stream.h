/* SPDX-License-Identifier: Apache-2.0 */
/* event_stream.h - the events of ringbench-case: lines on its standard output
 *
 *     c 1 /sys/fs/cgroup/...   first line: CASE_PROTOCOL, and the cgroup if there is one
 *     e 3 {...}                an event of rank 3; rank -1: of the case
 *     s 3 {...}                an event of rank 3: the rank has started
 *     x 3 {...}                an event of rank 3: the rank has ended
 *     p 3 {...}                progress of rank 3, which replaces its earlier progress
 *     l 1234 (sleep) ...       processes that were killed but have not exited
 */
#ifndef RINGBENCH_AGENT_CASE_EVENT_STREAM_H
#define RINGBENCH_AGENT_CASE_EVENT_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "common/base/buf.h"

/* Increase this number with every change to these lines or to the document (launch.h): an
 * upgrade may replace ringbench-case while an older agent runs. */
#define CASE_PROTOCOL 1
#define CASE_NO_RANK (-1)
#define CASE_LOCK_FD 3 /* a lock of the agent, held until this process ends */

enum event_kind {
    EVENT_HELLO = 'c',
    EVENT_OTHER = 'e',
    EVENT_STARTED = 's',
    EVENT_ENDED = 'x',
    EVENT_PROGRESS = 'p',
    EVENT_LEFT = 'l'
};

struct event_stream {
    uv_pipe_t pipe;
    uv_prepare_t prepare;
    struct buf pending; /* lines of this iteration of the loop */
    /* Back-pressure: the caller should pause the ranks while is_full is true. */
    void (*on_full)(void *arg, bool is_full);
    /* The agent no longer reads the stream. */
    void (*on_broken)(void *arg);
    /* Called once, after event_stream_end, when all lines are written. */
    void (*on_written)(void *arg);
    void *arg;
    bool is_full, is_broken, is_ending;
};

/* Start writing to a descriptor. The caller has set the handlers and arg and zeroed all
 * other members. */
void event_stream_open(struct event_stream *stream, uv_loop_t *loop, int fd);

void event_stream_text(struct event_stream *stream, enum event_kind kind,
                       const char *text);

/* The event is JSON text. */
void event_stream_line(struct event_stream *stream, enum event_kind kind, int rank,
                       const char *line, size_t len);

/* Takes ownership of the event. */
void event_stream_add(struct event_stream *stream, enum event_kind kind, int rank,
                      json_t *event);

void event_stream_end(struct event_stream *stream);

#endif
