/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - warm up and time a row, and combine all ranks' figures */
#ifndef RINGBENCH_WORKER_BENCH_MEASURE_H
#define RINGBENCH_WORKER_BENCH_MEASURE_H

#include <stdbool.h>

#include "agent/worker/bench/choice.h"
#include "common/base/error.h"

struct bench;
struct bench_row;

struct measurement {
    long iters;                     /* timed calls */
    double first_us;                /* first warm-up call, slowest rank */
    double mean_us, min_us, max_us; /* per call, over ranks; with blocks: the median */
    double enqueue_us;    /* time until run returned, per call; mean over ranks */
    struct choice choice; /* of the first warm-up call */
    double *times_us;     /* time per call of each rank of the group */
    double *samples_us;   /* per iteration, slowest rank; NULL: not recorded */
    long n_samples;
    /* By rank (arrival.h), on rank 0 only. NULL unless `isolated` with a single group. */
    double *late_us, late_error_us;
    double skew_us; /* of the barriers before the calls; negative: not measured */
    /* The members below are set only for a row in blocks, else 0 and NULL. */
    long n_blocks;
    double *blocks_us; /* per call, mean over ranks, in order of time */
    double p5_us, p95_us;
    bool has_interval; /* low_us and high_us: confidence interval of the median */
    double low_us, high_us;
    bool is_noisy; /* the interval is wider than requested, or there is none */
};

/* Warm up and time the row, in all groups at the same time. A collective call. Every rank
 * gets the same out[group], except for skew_us and late_us. Release out also after a
 * failure. */
int measure_row(struct bench *bench, const struct bench_row *row, struct measurement *out,
                struct error *err);
void measurement_release(struct measurement *measurement);

#endif
