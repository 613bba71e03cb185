/* control_stats.h - one figure out of the repetitions of all ranks */
#ifndef RINGBENCH_WORKER_BENCH_CONTROL_STATS_H
#define RINGBENCH_WORKER_BENCH_CONTROL_STATS_H

#include "agent/worker/bench/bench_state.h"

struct control_stats {
    long iters;
    double median_us, p99_us; /* over repetitions, each as long as its slowest rank */
    double min_us, max_us;    /* over ranks, of their own medians */
    double *medians_us;       /* by rank */
};

/* Take this rank's repetitions (in us; they are sorted) and those of all others. A
 * collective call; every rank gets the same. Release it also after a failure. */
int control_stats_combine(struct bench *bench, double *own_us, long iters,
                          struct control_stats *out, struct error *err);
void control_stats_release(struct control_stats *stats);

#endif
