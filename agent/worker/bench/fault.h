/* fault.h - tests: misbehave as the case says */
#ifndef RINGBENCH_WORKER_BENCH_FAULT_H
#define RINGBENCH_WORKER_BENCH_FAULT_H

#include "agent/worker/bench/bench_state.h"

/* What this rank is to do wrong in this row (of the whole case). Lateness is for every
 * row, and so is what goes by operations; FAULT_NO_ROW: only these. */
#define FAULT_NO_ROW UINT64_MAX
enum fault_kind fault_at(const struct bench *bench, uint64_t row);

/* Do it, before an operation, if it is not for a later one: be late, die, or hang until
 * told to stop (-1). */
int fault_act(struct bench *bench, enum fault_kind kind, struct error *err);

#endif
