/* fault.h - tests: misbehave as the case says */
#ifndef RINGBENCH_WORKER_BENCH_FAULT_H
#define RINGBENCH_WORKER_BENCH_FAULT_H

#include "agent/worker/bench/bench_state.h"
#include "agent/worker/bench/timed.h"

/* A row number for faults that do not depend on the row: lateness, and a fault that goes
 * by operations. */
#define FAULT_NO_ROW UINT64_MAX

/* Do the fault of this rank before an operation of row `row` that the progress has not
 * counted yet: be late, die, or hang until told to stop (-1). */
int fault_act(struct bench *bench, uint64_t row, struct error *err);

/* Stands between the timed loop and the calls of a rank that has a fault. */
struct fault_wrap {
    struct bench *bench;
    uint64_t row;
    struct timed_calls inner;
    uint64_t operations;
};

/* If this rank has a fault in row `row`, let it act before each submission of `timed`
 * from now on, also in `timing`. wrap: valid as long as the calls. */
void fault_wrap(struct fault_wrap *wrap, struct bench *bench, uint64_t row,
                struct timed *timed, struct backend_timing *timing);

#endif
