/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - tests: misbehave as the case says */
#ifndef RINGBENCH_WORKER_BENCH_FAULT_H
#define RINGBENCH_WORKER_BENCH_FAULT_H

#include "agent/worker/bench/bench_state.h"
#include "agent/worker/bench/timed.h"

/* A row number for faults that do not depend on the row: lateness, and a fault that goes
 * by operations. */
#define FAULT_NO_ROW UINT64_MAX

/* Let this rank's fault act before its next operation of row `row`: delay it, kill the
 * process, or hang until told to stop (returns -1). The progress does not count that
 * operation yet. */
int fault_act(struct bench *bench, uint64_t row, struct error *err);

/* Stands between the timed loop and the calls of a rank that has a fault. */
struct fault_wrap {
    struct bench *bench;
    uint64_t row;
    struct timed_calls inner;
    uint64_t operations;
};

/* If this rank has a fault in row `row`, let it act before each submission of `timed`
 * and of `timing` from now on. wrap must outlive both. */
void fault_wrap(struct fault_wrap *wrap, struct bench *bench, uint64_t row,
                struct timed *timed, struct backend_timing *timing);

#endif
