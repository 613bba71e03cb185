/* SPDX-License-Identifier: Apache-2.0 */
/* numeric.h - conversions of small floating-point formats: to float exactly, and from
 * float with rounding to nearest even. There are no branches, so that compilers can
 * vectorize.
 *
 * float16 overflows to infinity (IEEE 754). The 8-bit formats (OCP "E4M3", which has no
 * infinity, and "E5M2") saturate at their largest value, as NVIDIA's conversions do. */
#ifndef RINGBENCH_WORKER_DATA_NUMERIC_H
#define RINGBENCH_WORKER_DATA_NUMERIC_H

#include <stdint.h>
#include <string.h>

/* nvcc compiles these functions for host and device. */
#ifdef __CUDACC__
#define NUMERIC_FN static inline __host__ __device__
#else
#define NUMERIC_FN static inline
#endif

NUMERIC_FN uint32_t numeric_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

NUMERIC_FN float numeric_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Encode |value| with exponent bias `bias` and `man` mantissa bits. `abs` has the bits of
 * a finite value that is at most the format's largest number before rounding. Below the
 * smallest normal number, adding a power of two rounds to the format's precision. */
NUMERIC_FN uint32_t numeric_encode(uint32_t abs, int man, int bias)
{
    int shift = 23 - man;
    uint32_t magic_bits = (uint32_t)(127 + 1 - bias - man + 23) << 23;
    uint32_t tiny =
        numeric_bits(numeric_float(abs) + numeric_float(magic_bits)) - magic_bits;
    uint32_t odd = (abs >> shift) & 1u;
    uint32_t normal = (abs + ((1u << (shift - 1)) - 1u) + odd) >> shift;

    normal -= (uint32_t)(127 - bias) << man;
    return abs < ((uint32_t)(127 + 1 - bias) << 23) ? tiny : normal;
}

NUMERIC_FN uint16_t float16_encode(float value)
{
    uint32_t bits = numeric_bits(value), abs = bits & 0x7fffffffu;
    uint32_t finite = abs < 0x47800000u ? abs : 0x47800000u; /* 65536 encodes infinity */
    uint32_t code = numeric_encode(finite, 10, 15);

    code = abs > 0x7f800000u ? 0x7e00u : code;
    return (uint16_t)(code | ((bits >> 16) & 0x8000u));
}

NUMERIC_FN float float16_decode(uint16_t half)
{
    uint32_t abs = (uint32_t)(half & 0x7fffu) << 13;
    float scaled = numeric_float(abs) * 0x1p112f;
    uint32_t bits = numeric_bits(scaled);

    bits = abs >= 0x0f800000u ? (abs | 0x7f800000u) : bits;
    return numeric_float(bits | ((uint32_t)(half & 0x8000u) << 16));
}

NUMERIC_FN uint16_t bfloat16_encode(float value)
{
    uint32_t bits = numeric_bits(value);
    uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);

    rounded = (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : rounded;
    return (uint16_t)(rounded >> 16);
}

NUMERIC_FN float bfloat16_decode(uint16_t half)
{
    return numeric_float((uint32_t)half << 16);
}

NUMERIC_FN uint8_t float8e4m3_encode(float value)
{
    uint32_t bits = numeric_bits(value), abs = bits & 0x7fffffffu;
    uint32_t finite = abs < 0x43e00000u ? abs : 0x43e00000u; /* 448 */
    uint32_t code = numeric_encode(finite, 3, 7);

    code = abs > 0x7f800000u ? 0x7fu : code;
    return (uint8_t)(code | ((bits >> 24) & 0x80u));
}

NUMERIC_FN float float8e4m3_decode(uint8_t byte)
{
    uint32_t abs = (uint32_t)(byte & 0x7fu) << 20;
    uint32_t bits = numeric_bits(numeric_float(abs) * 0x1p120f);

    bits = abs == 0x07f00000u ? 0x7fc00000u : bits;
    return numeric_float(bits | ((uint32_t)(byte & 0x80u) << 24));
}

NUMERIC_FN uint8_t float8e5m2_encode(float value)
{
    uint32_t bits = numeric_bits(value), abs = bits & 0x7fffffffu;
    uint32_t finite = abs < 0x47600000u ? abs : 0x47600000u; /* 57344 */
    uint32_t code = numeric_encode(finite, 2, 15);

    code = abs > 0x7f800000u ? 0x7eu : code;
    return (uint8_t)(code | ((bits >> 24) & 0x80u));
}

NUMERIC_FN float float8e5m2_decode(uint8_t byte)
{
    return float16_decode((uint16_t)(byte << 8));
}

#endif
