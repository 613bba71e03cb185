/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - enough of CUDA C to compile the data kernels for the CPU: included before
 * agent/worker/nccl/data_kernels.cu */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_DEVICE_H
#define RINGBENCH_TESTS_NCCL_EMULATION_DEVICE_H

#include "agent/worker/nccl/cuda_abi.h"
#include "agent/worker/nccl/data_job.h"

#define KERNEL void

struct cuda_dim3 {
    unsigned x, y, z;
};

/* The thread and block that are running. */
extern _Thread_local struct cuda_dim3 gridDim, blockDim, blockIdx, threadIdx;

void ringbench_put_input(struct data_job job);
void ringbench_find_wrong(struct data_job job);

static inline void atomicAdd(unsigned long long *to, unsigned long long value)
{
    *to += value; /* not atomic: threads run one after another */
}

static inline void atomicMin(unsigned long long *to, unsigned long long value)
{
    *to = value < *to ? value : *to;
}

#endif
