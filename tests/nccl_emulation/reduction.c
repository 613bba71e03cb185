/* SPDX-License-Identifier: Apache-2.0 */
/* reduction.c - reductions of the emulated NCCL */
#include "tests/nccl_emulation/reduction.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "agent/worker/data/numeric.h"
#include "agent/worker/data/pattern_math.h"
#include "agent/worker/nccl/nccl_abi.h"

/* By NCCL's number of the type. */
static const struct {
    enum dtype type;
    unsigned element;
    bool is_float, is_signed;
} types[] = {
    [NCCL_TYPE_INT8] = {DTYPE_INT8, 1, false, true},
    [NCCL_TYPE_UINT8] = {DTYPE_UINT8, 1, false, false},
    [NCCL_TYPE_INT32] = {DTYPE_INT32, 4, false, true},
    [NCCL_TYPE_UINT32] = {DTYPE_UINT32, 4, false, false},
    [NCCL_TYPE_INT64] = {DTYPE_INT64, 8, false, true},
    [NCCL_TYPE_UINT64] = {DTYPE_UINT64, 8, false, false},
    [NCCL_TYPE_FLOAT16] = {DTYPE_FLOAT16, 2, true, true},
    [NCCL_TYPE_FLOAT32] = {DTYPE_FLOAT32, 4, true, true},
    [NCCL_TYPE_FLOAT64] = {DTYPE_FLOAT64, 8, true, true},
    [NCCL_TYPE_BFLOAT16] = {DTYPE_BFLOAT16, 2, true, true},
    [NCCL_TYPE_FLOAT8E4M3] = {DTYPE_FLOAT8E4M3, 1, true, true},
    [NCCL_TYPE_FLOAT8E5M2] = {DTYPE_FLOAT8E5M2, 1, true, true},
};

size_t reduction_element(int nccl_type)
{
    return types[nccl_type].element;
}

static double decode(enum dtype type, uint64_t bits)
{
    double value;

    switch (type) {
    case DTYPE_FLOAT64:
        memcpy(&value, &bits, sizeof(value));
        return value;
    case DTYPE_FLOAT32:
        return (double)numeric_float((uint32_t)bits);
    case DTYPE_FLOAT16:
        return (double)float16_decode((uint16_t)bits);
    case DTYPE_BFLOAT16:
        return (double)bfloat16_decode((uint16_t)bits);
    case DTYPE_FLOAT8E4M3:
        return (double)float8e4m3_decode((uint8_t)bits);
    default:
        return (double)float8e5m2_decode((uint8_t)bits);
    }
}

static double rounded(enum dtype type, double value)
{
    return decode(type, pattern_encode(type, value));
}

static double combine_floats(int op, double a, double b)
{
    switch (op) {
    case NCCL_OP_PROD:
        return a * b;
    case NCCL_OP_MAX:
        return a > b ? a : b;
    case NCCL_OP_MIN:
        return a < b ? a : b;
    default:
        return a + b;
    }
}

/* A floating-point average is the sum of inputs times 1/n, rounded to the type. */
static uint64_t reduce_floats(enum dtype type, int op, const uint64_t *bits, int n)
{
    double factor = op == NCCL_OP_AVG ? rounded(type, 1.0 / n) : 1;
    double total = 0;

    for (int i = 0; i < n; i++) {
        double value = rounded(type, decode(type, bits[i]) * factor);
        total = i == 0 ? value : rounded(type, combine_floats(op, total, value));
    }
    return pattern_encode(type, total);
}

static uint64_t combine_integers(int op, uint64_t a, uint64_t b, bool is_signed)
{
    bool is_less = is_signed ? (int64_t)a < (int64_t)b : a < b;

    switch (op) {
    case NCCL_OP_PROD:
        return a * b;
    case NCCL_OP_MAX:
        return is_less ? b : a;
    case NCCL_OP_MIN:
        return is_less ? a : b;
    default:
        return a + b;
    }
}

static uint64_t widen(uint64_t bits, unsigned element, bool is_signed)
{
    unsigned unused = 64 - 8 * element;

    return is_signed ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

/* An integer average is the sum divided by n. */
static uint64_t reduce_integers(unsigned element, bool is_signed, int op,
                                const uint64_t *bits, int n)
{
    uint64_t total = widen(bits[0], element, is_signed);

    for (int i = 1; i < n; i++) {
        total =
            combine_integers(op, total, widen(bits[i], element, is_signed), is_signed);
    }
    if (op == NCCL_OP_AVG)
        total = is_signed ? (uint64_t)((int64_t)total / n) : total / (uint64_t)n;
    return total;
}

void reduction_run(int nccl_type, int nccl_op, const char *contributions, int n,
                   size_t count, char *out)
{
    unsigned element = types[nccl_type].element;
    uint64_t bits[1024] = {0};

    for (size_t i = 0; i < count; i++) {
        for (int rank = 0; rank < n; rank++) {
            size_t at = ((size_t)rank * count + i) * element;
            bits[rank] = pattern_load(element, contributions + at);
        }
        uint64_t result =
            types[nccl_type].is_float
                ? reduce_floats(types[nccl_type].type, nccl_op, bits, n)
                : reduce_integers(element, types[nccl_type].is_signed, nccl_op, bits, n);
        pattern_store(element, result, out + i * element);
    }
}

void reduction_scale(int nccl_type, const void *scalar, const char *in, size_t count,
                     char *out)
{
    unsigned element = types[nccl_type].element;
    enum dtype type = types[nccl_type].type;
    uint64_t by = pattern_load(element, scalar);

    for (size_t i = 0; i < count; i++) {
        uint64_t bits = pattern_load(element, in + i * element);
        pattern_store(element,
                      types[nccl_type].is_float
                          ? pattern_encode(type, decode(type, bits) * decode(type, by))
                          : bits * by,
                      out + i * element);
    }
}
