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
    long iters; /* timed calls */
    /* time of the first warm-up call on the slowest rank */
    double first_us;
    /* time per call, over all ranks; with blocks: the median */
    double mean_us, min_us, max_us;
    double enqueue_us;    /* time per call until `run` returned, mean over ranks */
    struct choice choice; /* NCCL's choice for the first warm-up call */
    double *times_us;     /* time per call of each rank of the group */
    /* time of each iteration on the slowest rank; NULL: not recorded */
    double *samples_us;
    long n_samples;
    /* By rank (arrival.h), on rank 0 only. NULL unless `isolated` with a single group. */
    double *late_us, late_error_us;
    double skew_us; /* skew of the barriers before the calls; negative: not measured */
    /* The members below are set only for a row in blocks, else 0 and NULL. */
    long n_blocks;
    /* time per call of each block, mean over ranks, in chronological order */
    double *blocks_us;
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
