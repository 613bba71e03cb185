/* SPDX-License-Identifier: Apache-2.0 */
/* program_watch.h - what the agent says for a program that does not speak of itself: that
 * it runs, that it gets on, the figures it prints, how it ended */
#ifndef RINGBENCH_AGENT_CASE_PROGRAM_WATCH_H
#define RINGBENCH_AGENT_CASE_PROGRAM_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/case/event_stream.h"
#include "agent/case/metric.h"

#define PROGRAM_FIGURES_MAX 10000 /* per rank and case */

struct program_watch {
    struct event_stream *out; /* borrowed, as is the next one */
    const struct metric_set *metrics;
    int number;     /* the rank */
    uint64_t lines; /* printed so far, and other signs of life */
    uint64_t figures;
    const struct metric *cut[METRICS_MAX]; /* those of which figures were left out */
    size_t n_cut;
    uint64_t given_up; /* lines and metrics */
    int64_t told_ns;   /* when its progress was told last */
    bool is_reported;  /* how it ended has been said */
    bool is_stopped;   /* it was asked to end */
};

/* It has been started: `hello`, and `phase` running. */
void program_watch_begin(struct program_watch *watch, pid_t pid);

/* It has printed a line: `metric` events, and now and then `progress`. */
void program_watch_line(struct program_watch *watch, enum metric_stream stream,
                        const char *line, size_t len);

/* It has done something that it did not print: so it gets on. */
void program_watch_sign(struct program_watch *watch);

/* It is going to be stopped for this reason, and that is its failure. */
void program_watch_fail(struct program_watch *watch, const char *code, const char *text);

/* It has ended: `done` if it ended well or as asked; else its exit says it. */
void program_watch_end(struct program_watch *watch, bool is_signal, int number);

#endif
