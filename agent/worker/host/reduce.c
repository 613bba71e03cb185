/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - select the variant of the reduction kernels for this processor */
#include "agent/worker/host/reduce.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

extern const struct reduce_kernels reduce_kernels_base;
#ifdef REDUCE_HAVE_AVX2
extern const struct reduce_kernels reduce_kernels_avx2;
#endif

const struct reduce_kernels *reduce_kernels(void)
{
#ifdef REDUCE_HAVE_AVX2
    if (__builtin_cpu_supports("avx2"))
        return &reduce_kernels_avx2;
#endif
    return &reduce_kernels_base;
}

void reduce_finish_stream(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}
