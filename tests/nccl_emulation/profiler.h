/* SPDX-License-Identifier: Apache-2.0 */
/* profiler.h - the emulated NCCL's side of its profiler interface
 *
 * As each version of NCCL does it (the setting nccl), with what plugins stumble over. */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_PROFILER_H
#define RINGBENCH_TESTS_NCCL_EMULATION_PROFILER_H

#include "tests/nccl_emulation/operation.h"

/* A communicator begins, and ends. */
void profiler_begin(struct ncclComm *comm);
void profiler_end(struct ncclComm *comm);

/* n operations are launched as one. */
void profiler_launch(const struct operation *operations, size_t n);

#endif
