/* SPDX-License-Identifier: Apache-2.0 */
/* reduction.h - reductions of the emulated NCCL, rounded after each step as in NCCL */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_REDUCTION_H
#define RINGBENCH_TESTS_NCCL_EMULATION_REDUCTION_H

#include <stddef.h>

size_t reduction_element(int nccl_type);

/* out[i] = in[i] * *scalar */
void reduction_scale(int nccl_type, const void *scalar, const char *in, size_t count,
                     char *out);

/* Reduce n consecutive contributions of `count` elements into out. */
void reduction_run(int nccl_type, int nccl_op, const char *contributions, int n,
                   size_t count, char *out);

#endif
