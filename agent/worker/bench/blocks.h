/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h - collect every rank's block times for a row, and decide when to stop
 *
 * A row without a fixed number of iterations is timed in blocks until the confidence
 * interval of their median is narrow enough. All ranks exchange their times and hold the
 * same data, so all ranks make the same decision. */
#ifndef RINGBENCH_WORKER_BLOCKS_H
#define RINGBENCH_WORKER_BLOCKS_H

#include "agent/worker/bench/bench_state.h"
#include "agent/worker/bench/measure.h"

#define BLOCKS_AT_ONCE 8 /* most blocks between two exchanges */

struct blocks {
    struct bench *bench;
    long n;                             /* blocks exchanged so far */
    long n_before;                      /* n before the latest exchange */
    double own[2 + 2 * BLOCKS_AT_ONCE]; /* this rank's part of `parts` */
    double *us;         /* [group][samples.max]: a block's mean over the group's ranks */
    double *enqueue_us; /* like `us` */
    double *shares;   /* [rank]: sum over blocks of the rank's time / the group's mean */
    double *parts;    /* [rank]: the values that ranks exchange */
    bool *is_idle;    /* [group]: the group's ranks skip this row */
    double *scratch;  /* [samples.max] */
    double elapsed_s; /* of the slowest rank */
    bool is_last;     /* the next test of the interval is the last */
};

void blocks_init(struct blocks *blocks, struct bench *bench);
void blocks_release(struct blocks *blocks);

/* Add block k of the n that are exchanged next, n <= BLOCKS_AT_ONCE. Times are in us per
 * call. */
void blocks_add(struct blocks *blocks, long k, long n, double us, double enqueue_us);

/* Set this rank's state for the next exchange. elapsed_s: time since this rank's first
 * block began. */
void blocks_tell(struct blocks *blocks, bool is_idle, double elapsed_s);

/* Exchange the n blocks that were added. A collective call. */
int blocks_share(struct blocks *blocks, long n, struct error *err);

/* Mean time per call over the blocks of the latest exchange, in the slowest group. */
double blocks_latest_us(const struct blocks *blocks);

/* True if the time limit ends the row before blocks_wanted() is reached. */
bool blocks_are_late(const struct blocks *blocks);

/* Return the total number of blocks after which the interval is tested next. If that
 * number equals `n`, the row is done in every group. */
long blocks_wanted(struct blocks *blocks);

/* Fill in out[group], whose arrays the caller has allocated. first_us is not changed. */
void blocks_figures(const struct blocks *blocks, struct measurement *out);

#endif
