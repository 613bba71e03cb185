/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h - the blocks of a row that is timed until its median is known well enough:
 * what all ranks have measured of each, and what follows
 *
 * Every rank keeps the same, so that all decide alike. */
#ifndef RINGBENCH_WORKER_BLOCKS_H
#define RINGBENCH_WORKER_BLOCKS_H

#include "agent/worker/bench/bench_state.h"
#include "agent/worker/bench/measure.h"

#define BLOCKS_AT_ONCE 8 /* at most, before ranks tell each other */

struct blocks {
    struct bench *bench;
    long n;                             /* shared so far */
    long n_before;                      /* before the latest were shared */
    double own[2 + 2 * BLOCKS_AT_ONCE]; /* this rank's part of `parts` */
    double *us;         /* by group, samples.max each: mean over its ranks */
    double *enqueue_us; /* likewise */
    double *shares;     /* by rank: sum over blocks of its time over its group's mean */
    double *parts;      /* what the ranks tell each other */
    bool *is_idle;      /* by group: its row can't be run */
    double *scratch;    /* samples.max of them */
    double elapsed_s;   /* of the slowest rank */
    bool is_last;       /* no look follows the next */
};

void blocks_init(struct blocks *blocks, struct bench *bench);
void blocks_release(struct blocks *blocks);

/* Block k of the n, BLOCKS_AT_ONCE at most, that are shared next; per call. */
void blocks_add(struct blocks *blocks, long k, long n, double us, double enqueue_us);

/* This rank's further numbers; elapsed_s: since its first block began. */
void blocks_tell(struct blocks *blocks, bool is_idle, double elapsed_s);

/* Exchange the n that were added. A collective call. */
int blocks_share(struct blocks *blocks, long n, struct error *err);

/* Time per call of those that were shared last, on average, in the slowest group. */
double blocks_latest_us(const struct blocks *blocks);

/* No more are to be begun, though there are fewer than wanted. */
bool blocks_are_late(const struct blocks *blocks);

/* How many blocks there are to be in all before the next look; n: enough, in every group.
 */
long blocks_wanted(struct blocks *blocks);

/* The figures of each group: out[group], whose arrays are there; first_us is left. */
void blocks_figures(const struct blocks *blocks, struct measurement *out);

#endif
