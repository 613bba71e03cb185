/* SPDX-License-Identifier: Apache-2.0 */
/* program_watch.h - sends events on behalf of a program, which sends none itself: start,
 * progress, figures in its output, and result */
#ifndef RINGBENCH_AGENT_CASE_PROGRAM_WATCH_H
#define RINGBENCH_AGENT_CASE_PROGRAM_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/case/event_stream.h"
#include "agent/case/metric.h"

#define PROGRAM_FIGURES_MAX 10000 /* limit per rank and case */

struct program_watch {
    struct event_stream *out; /* borrowed, like `metrics` */
    const struct metric_set *metrics;
    int number;     /* the rank */
    uint64_t lines; /* number of printed lines and other signs of progress */
    uint64_t figures;
    const struct metric *cut[METRICS_MAX]; /* metrics whose further figures are dropped */
    size_t n_cut;
    uint64_t given_up;   /* number of lines on which a metric's regex gave up */
    int64_t progress_ns; /* time of the last progress event */
    bool is_reported;    /* the event `done` is sent */
    bool is_stopped;     /* the agent stopped the program */
};

/* Sends `hello` and the phase `running`. */
void program_watch_begin(struct program_watch *watch, pid_t pid);

/* Sends the line's `metric` events, and `progress` at most once a second. */
void program_watch_line(struct program_watch *watch, enum metric_stream stream,
                        const char *line, size_t len);

/* Report progress other than a line of output, such as a line of NCCL's log. */
void program_watch_activity(struct program_watch *watch);

/* Report this failure. The caller is about to stop the program. */
void program_watch_fail(struct program_watch *watch, const char *code, const char *text);

/* Sends `done` if the program succeeded or was stopped. Otherwise the event `exit`
 * reports the cause. */
void program_watch_end(struct program_watch *watch, bool is_signal, int number);

#endif
