/* control.h - measure the control series (common/spec/control.h) on the case's backend
 *
 * Each figure is of `iters` repetitions after a warm-up. A repetition begins with a
 * barrier of the control plane, and takes as long as its slowest rank; the figure's value
 * is the median over the repetitions. */
#ifndef RINGBENCH_WORKER_BENCH_CONTROL_H
#define RINGBENCH_WORKER_BENCH_CONTROL_H

#include "agent/worker/bench/bench_state.h"

/* Measure and report all that the plan has. A collective call. */
int control_run(struct bench *bench, struct error *err);

#endif
