/* SPDX-License-Identifier: Apache-2.0 */
/* event_stream.h - what ringbench-case answers: lines on its standard output
 *
 *     c 1 /sys/fs/cgroup/...   first: CASE_PROTOCOL, and the cgroup, if there is one
 *     e 3 {...}                an event of rank 3; of the case: rank -1
 *     s 3 {...}                likewise: the rank has started
 *     x 3 {...}                likewise: it has ended
 *     p 3 {...}                its progress, of which the latest counts
 *     l 1234 (sleep) ...       processes that were killed and do not die
 */
#ifndef RINGBENCH_AGENT_CASE_EVENT_STREAM_H
#define RINGBENCH_AGENT_CASE_EVENT_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "common/base/buf.h"

/* Another one with every change to these lines or to the document (launch.h): an
 * upgrade replaces ringbench-case under agents that run. */
#define CASE_PROTOCOL 1
#define CASE_NO_RANK (-1)
#define CASE_LOCK_FD 3 /* a lock of the agent, to hold for life */

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
    struct buf pending; /* lines of this turn of the loop */
    /* So much waits for the agent that no more should be made; and no longer. */
    void (*on_full)(void *arg, bool is_full);
    /* The agent has gone. */
    void (*on_broken)(void *arg);
    /* Called once, when event_stream_end has been called and all is written. */
    void (*on_written)(void *arg);
    void *arg;
    bool is_full, is_broken, is_ending;
};

/* Write to a descriptor from now on. The handlers and arg are set by the caller before,
 * all else is zero. */
void event_stream_open(struct event_stream *stream, uv_loop_t *loop, int fd);

void event_stream_text(struct event_stream *stream, enum event_kind kind,
                       const char *text);

/* An event as its JSON text. */
void event_stream_line(struct event_stream *stream, enum event_kind kind, int rank,
                       const char *line, size_t len);

/* An event, whose reference is taken. */
void event_stream_add(struct event_stream *stream, enum event_kind kind, int rank,
                      json_t *event);

void event_stream_end(struct event_stream *stream);

#endif
