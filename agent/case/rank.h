/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h - one rank of a case: its process, its events and its output
 *
 * A rank is a worker, which sends events, or a program, whose output is searched for
 * metrics. */
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
    /* The metrics of a program, borrowed; NULL: the rank is a worker. */
    const struct metric_set *metrics;
    bool hides_info; /* omit NCCL's log lines below warnings */
    /* path of a pipe for NCCL's log, which this function creates (borrowed until the rank
     * has started); or NULL */
    const char *nccl_log;
    /* The rank has ended, and its last event is in the stream. */
    void (*on_end)(void *arg, struct rank *rank);
    void (*on_done)(void *arg, const json_t *done);
    /* The rank has printed output: call rank_flush within a short time. */
    void (*on_output)(void *arg);
    /* The rank has printed the requested stacks, or has ended. */
    void (*on_stacks)(void *arg);
    void *arg;
};

/* Start a rank and send the event `spawn`. A rank is never freed. */
struct rank *rank_start(const struct rank_params *params, struct error *err);

/* The members are 0 until the rank has ended. */
const struct process_usage *rank_usage(const struct rank *rank);

void rank_signal(struct rank *rank, int signum);

/* Report that a program fails for this reason; the caller stops it. Ignores a worker. */
void rank_fail(struct rank *rank, const char *code, const char *text);

/* Request the stacks of the rank's threads by SIGUSR2. The stacks appear in the rank's
 * output. For a worker, an event `stack` also quotes the first thread's stack. A program
 * may ignore SIGUSR2. */
void rank_ask_stacks(struct rank *rank);

/* Return true if the rank has sent its stacks or has ended. */
bool rank_has_sent_stacks(const struct rank *rank);

void rank_pause(struct rank *rank);
void rank_resume(struct rank *rank);

void rank_flush(struct rank *rank);

#endif
