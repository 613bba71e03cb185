/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - apply the faults that a test injects into a rank (case_file.h) */
#ifndef RINGBENCH_WORKER_BENCH_FAULT_H
#define RINGBENCH_WORKER_BENCH_FAULT_H

#include "agent/worker/bench/bench_state.h"
#include "agent/worker/bench/timed.h"

/* A row number that matches no row. With it, only faults that do not depend on the row
 * act: FAULT_SLOW and faults with `op` set. */
#define FAULT_NO_ROW UINT64_MAX

/* Apply this rank's fault, if any, before its next operation of row `row`: delay, kill
 * the process, or hang until a stop is requested (returns -1). The progress must not
 * count that operation yet. */
int fault_act(struct bench *bench, uint64_t row, struct error *err);

struct fault_wrap {
    struct bench *bench;
    uint64_t row;
    struct timed_calls inner;
    uint64_t operations;
};

/* If this rank has a fault in row `row`, apply the fault before each submission of
 * `timed` and `timing` from now on. wrap must outlive both. */
void fault_wrap(struct fault_wrap *wrap, struct bench *bench, uint64_t row,
                struct timed *timed, struct backend_timing *timing);

#endif
