/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_kernels.c - the reduction loops, compiled once per instruction set.
 * REDUCE_VARIANT names the table. The compiler can vectorize the loops, because
 * iterations are independent even if out equals a or b. */
#include <stdint.h>
#include <string.h>

#include "agent/worker/data/numeric.h"
#include "agent/worker/host/reduce.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define SUM(x, y) ((x) + (y))
#define PROD(x, y) ((x) * (y))
#define MIN(x, y) ((y) < (x) ? (y) : (x))
#define MAX(x, y) ((x) < (y) ? (y) : (x))

/* T: type in memory. W: type of the computation, without undefined overflow. */
#define REDUCE(name, T, W, LOAD, STORE, OP)                                              \
    static void name(void *out, const void *a, const void *b, size_t count)              \
    {                                                                                    \
        T *to = out;                                                                     \
        const T *x = a, *y = b;                                                          \
        INDEPENDENT                                                                      \
        for (size_t i = 0; i < count; i++) {                                             \
            W u = LOAD(x[i]), v = LOAD(y[i]);                                            \
            W w = (W)OP(u, v);                                                           \
            to[i] = STORE(w);                                                            \
        }                                                                                \
    }

#define DIVIDE(name, T, W, LOAD, STORE)                                                  \
    static void name(void *data, size_t count, int divisor)                              \
    {                                                                                    \
        T *to = data;                                                                    \
        W by = (W)divisor;                                                               \
        INDEPENDENT                                                                      \
        for (size_t i = 0; i < count; i++) {                                             \
            W u = LOAD(to[i]);                                                           \
            to[i] = STORE((W)(u / by));                                                  \
        }                                                                                \
    }

#define SCALE(name, T, W, LOAD, STORE)                                                   \
    static void name(void *out, const void *in, size_t count, const void *scalar)        \
    {                                                                                    \
        T *to = out, factor;                                                             \
        const T *from = in;                                                              \
        memcpy(&factor, scalar, sizeof(factor));                                         \
        W by = LOAD(factor);                                                             \
        INDEPENDENT                                                                      \
        for (size_t i = 0; i < count; i++) {                                             \
            W u = LOAD(from[i]);                                                         \
            to[i] = STORE((W)(u * by));                                                  \
        }                                                                                \
    }

/* U: unsigned type for sums and products, which wrap. S: type for comparisons and
 * divisions. */
#define INTEGER(noun, U, S, WIDE)                                                        \
    REDUCE(noun##_sum, U, U, (U), (U), SUM)                                              \
    REDUCE(noun##_prod, U, WIDE, (WIDE), (U), PROD)                                      \
    REDUCE(noun##_min, S, S, (S), (S), MIN)                                              \
    REDUCE(noun##_max, S, S, (S), (S), MAX)                                              \
    SCALE(noun##_scale, U, WIDE, (WIDE), (U))                                            \
    DIVIDE(noun##_divide, S, WIDE##_s, (WIDE##_s), (S))

#define FLOATING(noun, T, W, LOAD, STORE)                                                \
    REDUCE(noun##_sum, T, W, LOAD, STORE, SUM)                                           \
    REDUCE(noun##_prod, T, W, LOAD, STORE, PROD)                                         \
    REDUCE(noun##_min, T, W, LOAD, STORE, MIN)                                           \
    REDUCE(noun##_max, T, W, LOAD, STORE, MAX)                                           \
    SCALE(noun##_scale, T, W, LOAD, STORE)                                               \
    DIVIDE(noun##_divide, T, W, LOAD, STORE)

typedef uint32_t wide32;
typedef uint64_t wide64;
typedef int64_t wide32_s;

#define wide64_s int64_t
INTEGER(int8, uint8_t, int8_t, wide32)
INTEGER(uint8, uint8_t, uint8_t, wide32)
INTEGER(int32, uint32_t, int32_t, wide32)
INTEGER(uint32, uint32_t, uint32_t, wide32)
INTEGER(int64, uint64_t, int64_t, wide64)
#undef wide64_s
#define wide64_s uint64_t
INTEGER(uint64, uint64_t, uint64_t, wide64)
#undef wide64_s

FLOATING(float16, uint16_t, float, float16_decode, float16_encode)
FLOATING(float32, float, float, (float), (float))
FLOATING(float64, double, double, (double), (double))
FLOATING(bfloat16, uint16_t, float, bfloat16_decode, bfloat16_encode)
FLOATING(float8e4m3, uint8_t, float, float8e4m3_decode, float8e4m3_encode)
FLOATING(float8e5m2, uint8_t, float, float8e5m2_decode, float8e5m2_encode)

#if defined(__AVX2__)
#define VECTOR __m256i
#define VECTOR_LOAD(p) _mm256_loadu_si256(p)
#define VECTOR_STREAM(p, v) _mm256_stream_si256(p, v)
#elif defined(__SSE2__)
#define VECTOR __m128i
#define VECTOR_LOAD(p) _mm_loadu_si128(p)
#define VECTOR_STREAM(p, v) _mm_stream_si128(p, v)
#endif

#ifdef VECTOR
static void stream(void *to, const void *from, size_t bytes)
{
    char *out = to;
    const char *in = from;
    size_t head = (size_t)(-(uintptr_t)out % sizeof(VECTOR));

    if (head > 0) {
        head = head < bytes ? head : bytes;
        memcpy(out, in, head);
        out += head;
        in += head;
        bytes -= head;
    }
    for (; bytes >= sizeof(VECTOR); bytes -= sizeof(VECTOR)) {
        VECTOR_STREAM((VECTOR *)(void *)out,
                      VECTOR_LOAD((const VECTOR *)(const void *)in));
        out += sizeof(VECTOR);
        in += sizeof(VECTOR);
    }
    if (bytes > 0)
        memcpy(out, in, bytes);
}
#else
static void stream(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif

#define OPS(noun)                                                                        \
    {                                                                                    \
        [REDOP_SUM] = noun##_sum, [REDOP_PROD] = noun##_prod, [REDOP_MIN] = noun##_min,  \
        [REDOP_MAX] = noun##_max, [REDOP_AVG] = noun##_sum, [REDOP_MULSUM] = noun##_sum  \
    }

extern const struct reduce_kernels REDUCE_VARIANT;
#define QUOTE_AGAIN(x) #x
#define QUOTE(x) QUOTE_AGAIN(x)

const struct reduce_kernels REDUCE_VARIANT = {
    .name = QUOTE(REDUCE_VARIANT),
    .reduce =
        {
            [DTYPE_INT8] = OPS(int8),
            [DTYPE_UINT8] = OPS(uint8),
            [DTYPE_INT32] = OPS(int32),
            [DTYPE_UINT32] = OPS(uint32),
            [DTYPE_INT64] = OPS(int64),
            [DTYPE_UINT64] = OPS(uint64),
            [DTYPE_FLOAT16] = OPS(float16),
            [DTYPE_FLOAT32] = OPS(float32),
            [DTYPE_FLOAT64] = OPS(float64),
            [DTYPE_BFLOAT16] = OPS(bfloat16),
            [DTYPE_FLOAT8E4M3] = OPS(float8e4m3),
            [DTYPE_FLOAT8E5M2] = OPS(float8e5m2),
        },
    .scale =
        {
            [DTYPE_INT8] = int8_scale,
            [DTYPE_UINT8] = uint8_scale,
            [DTYPE_INT32] = int32_scale,
            [DTYPE_UINT32] = uint32_scale,
            [DTYPE_INT64] = int64_scale,
            [DTYPE_UINT64] = uint64_scale,
            [DTYPE_FLOAT16] = float16_scale,
            [DTYPE_FLOAT32] = float32_scale,
            [DTYPE_FLOAT64] = float64_scale,
            [DTYPE_BFLOAT16] = bfloat16_scale,
            [DTYPE_FLOAT8E4M3] = float8e4m3_scale,
            [DTYPE_FLOAT8E5M2] = float8e5m2_scale,
        },
    .divide =
        {
            [DTYPE_INT8] = int8_divide,
            [DTYPE_UINT8] = uint8_divide,
            [DTYPE_INT32] = int32_divide,
            [DTYPE_UINT32] = uint32_divide,
            [DTYPE_INT64] = int64_divide,
            [DTYPE_UINT64] = uint64_divide,
            [DTYPE_FLOAT16] = float16_divide,
            [DTYPE_FLOAT32] = float32_divide,
            [DTYPE_FLOAT64] = float64_divide,
            [DTYPE_BFLOAT16] = bfloat16_divide,
            [DTYPE_FLOAT8E4M3] = float8e4m3_divide,
            [DTYPE_FLOAT8E5M2] = float8e5m2_divide,
        },
    .stream = stream,
};
