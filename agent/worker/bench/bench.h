/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - run the rows of a case over a backend and report each one
 *
 * Each row has a warm-up, whose first call is timed separately, a barrier, the timed
 * calls, and statistics over all ranks. Buffer offsets rotate as in nccl-tests. The check
 * of every element runs on fresh data outside the timed region. */
#ifndef RINGBENCH_WORKER_BENCH_BENCH_H
#define RINGBENCH_WORKER_BENCH_BENCH_H

#include "agent/worker/bench/bench_state.h"

/* Run all rows. A collective call. Any failure ends the case. */
int bench_run(struct bench *bench, struct error *err);

#endif
