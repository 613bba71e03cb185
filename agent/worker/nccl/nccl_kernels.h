/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_kernels.h - the data kernels as compiled by nvcc, embedded; empty without nvcc */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_KERNELS_H
#define RINGBENCH_WORKER_NCCL_NCCL_KERNELS_H

#include <stddef.h>

extern const unsigned char nccl_kernels_image[] __attribute__((aligned(64)));
extern const size_t nccl_kernels_image_len;

/* The same as PTX of an old version, for drivers older than nvcc; text. */
extern const unsigned char nccl_kernels_ptx[];
extern const size_t nccl_kernels_ptx_len;

#endif
