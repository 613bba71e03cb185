/* SPDX-License-Identifier: Apache-2.0 */
/* profiler.h - NCCL's side of the profiler interface, emulated
 *
 * It behaves like the version in the setting `nccl`, including that version's pitfalls.
 */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_PROFILER_H
#define RINGBENCH_TESTS_NCCL_EMULATION_PROFILER_H

#include "tests/nccl_emulation/operation.h"

/* Call when a communicator is created and destroyed. */
void profiler_begin(struct ncclComm *comm);
void profiler_end(struct ncclComm *comm);

/* Call when n operations are launched together. */
void profiler_launch(const struct operation *operations, size_t n);

#endif
