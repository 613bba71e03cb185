/* expected.h - what a rank must have received after a call, alltoallv among them */
#ifndef RINGBENCH_WORKER_BENCH_EXPECTED_H
#define RINGBENCH_WORKER_BENCH_EXPECTED_H

#include "agent/worker/bench/backend.h"

/* Elements first .. first + count - 1 of the receive buffer of `rank`: as
 * pattern_expected(), and for alltoallv by the call's traffic. */
void expected_elements(const struct pattern *pattern, const struct backend_call *call,
                       int rank, uint64_t first, size_t count, void *out);

#endif
