/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - run the rows of a case over a backend and report each one
 *
 * For every row: warm up, with the first call timed apart; a barrier; the timed calls, at
 * buffer offsets that rotate as nccl-tests' do; statistics over all ranks; and, outside
 * the timed region, the check of every element on fresh data. */
#ifndef RINGBENCH_WORKER_BENCH_BENCH_H
#define RINGBENCH_WORKER_BENCH_BENCH_H

#include "agent/worker/bench/bench_state.h"

/* Run all rows. A collective call. Whatever fails ends the case. */
int bench_run(struct bench *bench, struct error *err);

#endif
