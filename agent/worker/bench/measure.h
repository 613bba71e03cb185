/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - the timed part of a row */
#ifndef RINGBENCH_WORKER_BENCH_MEASURE_H
#define RINGBENCH_WORKER_BENCH_MEASURE_H

#include <stdbool.h>

#include "agent/worker/bench/choice.h"
#include "common/base/error.h"

struct bench;
struct bench_row;

struct measurement {
    long iters;                     /* timed calls behind the figures */
    double first_us;                /* the first call, slowest rank */
    double mean_us, min_us, max_us; /* per call, over ranks; of blocks, their median */
    double enqueue_us;              /* until a call had returned, mean over ranks */
    struct choice choice;           /* how the first call was done */
    double *times_us;               /* per rank of the group */
    double *samples_us;             /* per iteration, slowest rank; NULL: not asked for */
    long n_samples;
    /* Per rank, see arrival.h: `isolated`, of rank 0 where all ranks are one group; NULL
     */
    double *late_us, late_error_us;
    double skew_us; /* of the barriers before its calls; negative: not measured */
    /* Of a row whose calls were timed in blocks, else 0 and NULL. */
    long n_blocks;
    double *blocks_us; /* per call, mean over ranks, in the order of time */
    double p5_us, p95_us;
    bool has_interval; /* of the median */
    double low_us, high_us;
    bool is_noisy; /* it is wider than asked, or there is none */
};

/* Warm up and time the row, in all groups at once. A collective call; every rank gets the
 * same figures: out[group]. Release them also after a failure. */
int measure_row(struct bench *bench, const struct bench_row *row, struct measurement *out,
                struct error *err);
void measurement_release(struct measurement *measurement);

#endif
