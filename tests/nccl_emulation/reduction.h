/* SPDX-License-Identifier: Apache-2.0 */
/* reduction.h - what the emulated NCCL adds up, as NCCL would: rounded after each step */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_REDUCTION_H
#define RINGBENCH_TESTS_NCCL_EMULATION_REDUCTION_H

#include <stddef.h>

size_t reduction_element(int nccl_type);

/* out[i] = in[i] * *scalar */
void reduction_scale(int nccl_type, const void *scalar, const char *in, size_t count,
                     char *out);

/* Reduce n contributions of `count` elements, one behind the other, into out. */
void reduction_run(int nccl_type, int nccl_op, const char *contributions, int n,
                   size_t count, char *out);

#endif
