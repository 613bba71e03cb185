/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - arithmetic of reductions over host memory
 *
 * Each operation on two elements rounds its result to the data type. 16-bit and 8-bit
 * floating-point types are computed in float. Integer sums and products wrap around. */
#ifndef RINGBENCH_WORKER_HOST_REDUCE_H
#define RINGBENCH_WORKER_HOST_REDUCE_H

#include <stddef.h>

#include "common/spec/collective.h"

/* out[i] = a[i] op b[i]. out may equal a or b, but not overlap them partially. */
typedef void reduce_fn(void *out, const void *a, const void *b, size_t count);
/* out[i] = in[i] * *scalar; out may equal in. Integers wrap around. */
typedef void scale_fn(void *out, const void *in, size_t count, const void *scalar);
/* data[i] /= divisor; integers truncate. */
typedef void divide_fn(void *data, size_t count, int divisor);
/* Copy without filling the caches, if the processor can. Regions must not overlap. Call
 * reduce_finish_stream before other ranks may read the data. */
typedef void stream_fn(void *to, const void *from, size_t bytes);

struct reduce_kernels {
    const char *name;
    reduce_fn *reduce[DTYPE_COUNT][REDOP_COUNT]; /* for avg and mulsum: the sum */
    scale_fn *scale[DTYPE_COUNT];
    divide_fn *divide[DTYPE_COUNT];
    stream_fn *stream;
};

/* The fastest variant that this processor supports. */
const struct reduce_kernels *reduce_kernels(void);

/* Make streamed stores visible before all later stores. */
void reduce_finish_stream(void);

#endif
