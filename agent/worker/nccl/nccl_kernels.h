/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_kernels.h - the embedded data kernels, compiled by nvcc; empty without nvcc */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_KERNELS_H
#define RINGBENCH_WORKER_NCCL_NCCL_KERNELS_H

#include <stddef.h>

extern const unsigned char nccl_kernels_image[] __attribute__((aligned(64)));
extern const size_t nccl_kernels_image_len;

/* The kernels as text in an old PTX version, for drivers older than nvcc. */
extern const unsigned char nccl_kernels_ptx[];
extern const size_t nccl_kernels_ptx_len;

#endif
