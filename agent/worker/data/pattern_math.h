/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_math.h - the arithmetic of pattern.h for single elements, on CPU and GPU
 *
 * CPU and GPU code compile the same source, so both expect the same results. pattern.c
 * fills struct pattern and allocates its two tables. */
#ifndef RINGBENCH_WORKER_DATA_PATTERN_MATH_H
#define RINGBENCH_WORKER_DATA_PATTERN_MATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/worker/data/numeric.h"
#include "common/spec/collective.h"

struct pattern {
    enum dtype type;
    unsigned element; /* bytes */
    int redop, n;
    uint64_t seed;
    bool is_float, is_signed;
    int bits; /* of an integer, or of a significand including the implicit bit */
    /* exponent range of a scale for integers up to 2^bits */
    int exponent_min, exponent_max;
    /* Floating point: value = sign * mantissa * 2^exponent * table[position]. */
    uint64_t mantissas;            /* largest mantissa; the smallest is 1 */
    double least, greatest, total; /* of the table's values */
    /* Integers. */
    uint64_t scales; /* avg: largest scale; the smallest is 1 */
    int64_t spread;  /* min, max: the table is within -spread .. spread */
    uint64_t integer_total;
    double *table;
    uint64_t *integers;
};

NUMERIC_FN uint64_t pattern_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

NUMERIC_FN uint64_t pattern_hash(uint64_t seed, uint64_t index)
{
    return pattern_mix(seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Map the hash's upper half to 0 .. n-1. */
NUMERIC_FN uint32_t pattern_scale_to(uint64_t hash, uint32_t n)
{
    return (uint32_t)(((hash >> 32) * n) >> 32);
}

NUMERIC_FN int pattern_position(const struct pattern *pattern, int rank, uint64_t hash)
{
    int at = rank + (int)pattern_scale_to(hash, (uint32_t)pattern->n);
    return at >= pattern->n ? at - pattern->n : at;
}

NUMERIC_FN double pattern_float_scale(const struct pattern *pattern, uint64_t hash)
{
    uint64_t second = pattern_mix(hash);
    uint32_t exponents = (uint32_t)(pattern->exponent_max - pattern->exponent_min + 1);
    int exponent = pattern->exponent_min + (int)pattern_scale_to(second, exponents);
    uint64_t mantissa = 1 + (second & 0xffffffffu) % pattern->mantissas;
    double value = (double)mantissa * (hash & 1 ? -1.0 : 1.0);

    /* Build 2^exponent from its bits. */
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof(power));
    return value * power;
}

/* Scalars of mulsum, for even and odd ranks. Floating-point types use 2 and 1/2, which
 * are exact. Integers use 3 and 5, whose inverses modulo 2^64 also hold for narrower
 * types. */
NUMERIC_FN double pattern_float_scalar(int rank)
{
    return rank % 2 == 0 ? 2.0 : 0.5;
}

NUMERIC_FN uint64_t pattern_integer_scalar(int rank)
{
    return rank % 2 == 0 ? 3 : 5;
}

NUMERIC_FN uint64_t pattern_integer_unscaled(int rank, uint64_t value)
{
    return value *
           (rank % 2 == 0 ? UINT64_C(0xaaaaaaaaaaaaaaab) : UINT64_C(0xcccccccccccccccd));
}

NUMERIC_FN double pattern_float_input(const struct pattern *pattern, int rank,
                                      uint64_t hash)
{
    int at = pattern_position(pattern, rank, hash);

    if (pattern->redop == REDOP_PROD && at != 0)
        return pattern->table[at];
    double value = pattern_float_scale(pattern, hash) * pattern->table[at];
    return pattern->redop == REDOP_MULSUM ? value / pattern_float_scalar(rank) : value;
}

NUMERIC_FN double pattern_float_reduced(const struct pattern *pattern, uint64_t hash)
{
    double scale = pattern_float_scale(pattern, hash);

    switch (pattern->redop) {
    case REDOP_MIN:
        return scale * (scale > 0 ? pattern->least : pattern->greatest);
    case REDOP_MAX:
        return scale * (scale > 0 ? pattern->greatest : pattern->least);
    case REDOP_AVG:
        return scale * pattern->total / pattern->n;
    default:
        return scale * pattern->total;
    }
}

/* min, max: a random number at least `spread` from both ends of the type's range. */
NUMERIC_FN uint64_t pattern_integer_base(const struct pattern *pattern, uint64_t hash)
{
    int bits = pattern->bits;
    uint64_t full = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t spread = (uint64_t)pattern->spread;
    uint64_t base = spread + pattern_mix(hash) % (full - 2 * spread + 1);

    return pattern->is_signed ? base - (UINT64_C(1) << (bits - 1)) : base;
}

NUMERIC_FN uint64_t pattern_integer_scale(const struct pattern *pattern, uint64_t hash)
{
    switch (pattern->redop) {
    case REDOP_AVG:
        return 1 + pattern_mix(hash) % pattern->scales;
    case REDOP_MIN:
    case REDOP_MAX:
        return pattern_integer_base(pattern, hash);
    default:
        return pattern_mix(hash) | 1;
    }
}

NUMERIC_FN uint64_t pattern_integer_input(const struct pattern *pattern, int rank,
                                          uint64_t hash)
{
    int at = pattern_position(pattern, rank, hash);
    uint64_t entry = pattern->integers[at];

    if (pattern->redop == REDOP_PROD && at != 0)
        return entry;
    uint64_t scale = pattern_integer_scale(pattern, hash);
    bool is_extreme = pattern->redop == REDOP_MIN || pattern->redop == REDOP_MAX;
    if (pattern->redop == REDOP_MULSUM)
        return pattern_integer_unscaled(rank, scale * entry);
    return is_extreme ? scale + entry : scale * entry;
}

NUMERIC_FN uint64_t pattern_integer_reduced(const struct pattern *pattern, uint64_t hash)
{
    uint64_t scale = pattern_integer_scale(pattern, hash);

    switch (pattern->redop) {
    case REDOP_MIN:
        return scale + (uint64_t)(int64_t)pattern->least;
    case REDOP_MAX:
        return scale + (uint64_t)(int64_t)pattern->greatest;
    case REDOP_AVG:
        return scale * pattern->integer_total / (uint64_t)pattern->n;
    default:
        return scale * pattern->integer_total;
    }
}

/* The bits of a floating-point number in its type, in the low bytes. */
NUMERIC_FN uint64_t pattern_encode(enum dtype type, double value)
{
    float single = (float)value;
    uint64_t bits = 0;

    switch (type) {
    case DTYPE_FLOAT64:
        memcpy(&bits, &value, sizeof(bits));
        return bits;
    case DTYPE_FLOAT32:
        return numeric_bits(single);
    case DTYPE_FLOAT16:
        return float16_encode(single);
    case DTYPE_BFLOAT16:
        return bfloat16_encode(single);
    case DTYPE_FLOAT8E4M3:
        return float8e4m3_encode(single);
    default:
        return float8e5m2_encode(single);
    }
}

NUMERIC_FN void pattern_store(unsigned element, uint64_t bits, void *out)
{
    switch (element) {
    case 1:
        *(uint8_t *)out = (uint8_t)bits;
        break;
    case 2:
        *(uint16_t *)out = (uint16_t)bits;
        break;
    case 4:
        *(uint32_t *)out = (uint32_t)bits;
        break;
    default:
        *(uint64_t *)out = bits;
        break;
    }
}

NUMERIC_FN uint64_t pattern_load(unsigned element, const void *from)
{
    switch (element) {
    case 1:
        return *(const uint8_t *)from;
    case 2:
        return *(const uint16_t *)from;
    case 4:
        return *(const uint32_t *)from;
    default:
        return *(const uint64_t *)from;
    }
}

/* Element `index` of the input of `rank`; rank -1: of the reduction's result. */
NUMERIC_FN uint64_t pattern_bits(const struct pattern *pattern, int rank, uint64_t index)
{
    if (pattern->redop < 0)
        return pattern_hash(pattern_mix(pattern->seed + (uint64_t)rank), index);
    uint64_t hash = pattern_hash(pattern->seed, index);
    if (!pattern->is_float) {
        return rank < 0 ? pattern_integer_reduced(pattern, hash)
                        : pattern_integer_input(pattern, rank, hash);
    }
    return pattern_encode(pattern->type, rank < 0
                                             ? pattern_float_reduced(pattern, hash)
                                             : pattern_float_input(pattern, rank, hash));
}

/* The origin of element `index` of the rank's receive buffer: element *from of the input
 * of *source (-1: of the reduction's result). Each block of call_count elements is
 * contiguous in both. */
NUMERIC_FN void pattern_source(enum collective_kind kind, int n, int rank, int root,
                               uint64_t call_count, uint64_t index, int *source,
                               uint64_t *from)
{
    *from = index;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_REDUCE:
        *source = -1;
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        *source = -1;
        *from = (uint64_t)rank * call_count + index;
        break;
    case COLLECTIVE_BROADCAST:
        *source = root;
        break;
    case COLLECTIVE_SENDRECV:
        *source = (rank + n - 1) % n;
        break;
    case COLLECTIVE_SCATTER:
        *source = root;
        *from = (uint64_t)rank * call_count + index;
        break;
    case COLLECTIVE_ALLTOALL:
        *source = (int)(index / call_count);
        *from = (uint64_t)rank * call_count + index % call_count;
        break;
    default:
        *source = (int)(index / call_count);
        *from = index % call_count;
        break;
    }
}

NUMERIC_FN bool pattern_is_nan(enum dtype type, uint64_t bits)
{
    switch (type) {
    case DTYPE_FLOAT64:
        return (bits & UINT64_C(0x7fffffffffffffff)) > UINT64_C(0x7ff0000000000000);
    case DTYPE_FLOAT32:
        return (bits & 0x7fffffffu) > 0x7f800000u;
    case DTYPE_FLOAT16:
        return (bits & 0x7fffu) > 0x7c00u;
    case DTYPE_BFLOAT16:
        return (bits & 0x7fffu) > 0x7f80u;
    case DTYPE_FLOAT8E4M3:
        return (bits & 0x7fu) == 0x7fu;
    case DTYPE_FLOAT8E5M2:
        return (bits & 0x7fu) > 0x7cu;
    default:
        return false;
    }
}

NUMERIC_FN uint64_t pattern_bits_distance(enum dtype type, bool is_float,
                                          unsigned element, uint64_t x, uint64_t y)
{
    uint64_t sign = UINT64_C(1) << (8 * element - 1);

    if (x == y)
        return 0;
    if (!is_float)
        return UINT64_MAX;
    if ((x | y) == sign)
        return 0; /* +0 and -0 */
    if (pattern_is_nan(type, x) || pattern_is_nan(type, y) || ((x ^ y) & sign))
        return UINT64_MAX;
    return x > y ? x - y : y - x;
}

#endif
