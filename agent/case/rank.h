/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h - one worker of a case: its process, what it reports and what it prints */
#ifndef RINGBENCH_AGENT_CASE_RANK_H
#define RINGBENCH_AGENT_CASE_RANK_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent/case/event_stream.h"
#include "agent/case/metric.h"
#include "agent/case/process.h"
#include "common/base/error.h"

struct rank;

struct rank_params {
    struct process_tree *tree;
    struct event_stream *out;
    int number;
    struct process_params program;
    /* What its output means (borrowed); NULL: a worker, which tells by events. */
    const struct metric_set *metrics;
    bool hides_info;      /* NCCL's lines below warnings: nobody asked for them */
    const char *nccl_log; /* path of the pipe, made here, to which it is told to write
                             NCCL's log (borrowed until it has started); or NULL */
    /* The worker has ended, and its last event is on its way. */
    void (*on_end)(void *arg, struct rank *rank);
    /* Its event `done`. */
    void (*on_done)(void *arg, const json_t *done);
    /* It has printed something: rank_flush it in a while. */
    void (*on_output)(void *arg);
    /* Asked for its stacks, it has printed them. */
    void (*on_stacks)(void *arg);
    void *arg;
};

/* Start the worker and announce it (`spawn`). NULL with the reason if it can't be. It is
 * there until this process ends. */
struct rank *rank_start(const struct rank_params *params, struct error *err);

/* What it used; nothing before its end. */
const struct process_usage *rank_usage(const struct rank *rank);

void rank_signal(struct rank *rank, int signum);

/* Say that a program (not a worker) fails for this reason; the caller stops it. */
void rank_fail(struct rank *rank, const char *code, const char *text);

/* Ask for the stacks of its threads. They go where its output goes; an event `stack` has
 * what says most of a worker's. A program prints what it likes, if it heeds the signal.
 */
void rank_ask_stacks(struct rank *rank);

/* Whether no more is to be expected of that: it has printed them, or has ended. */
bool rank_has_told_stacks(const struct rank *rank);

void rank_pause(struct rank *rank);
void rank_resume(struct rank *rank);

/* Send on what the worker has printed so far. */
void rank_flush(struct rank *rank);

#endif
