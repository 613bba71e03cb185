/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - generate input data and expected results of checks */
#include "agent/worker/data/pattern.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/data/pattern_math.h"
#include "common/base/memory.h"

#define BLOCK 256 /* elements converted together */

/* The numbers that a floating-point type represents exactly. Products need room, so the
 * exponents leave a factor of four at both ends. */
struct float_range {
    int bits; /* significand, including the implicit bit */
    /* exponent range of a scale for integers up to 2^bits */
    int exponent_min, exponent_max;
};

static const struct float_range float_ranges[DTYPE_COUNT] = {
    [DTYPE_FLOAT16] = {11, -12, 2},  [DTYPE_FLOAT32] = {24, -30, 30},
    [DTYPE_FLOAT64] = {53, -30, 30}, [DTYPE_BFLOAT16] = {8, -30, 30},
    [DTYPE_FLOAT8E4M3] = {4, -4, 2}, [DTYPE_FLOAT8E5M2] = {3, -12, 10},
};

struct integer_range {
    int bits;
    bool is_signed;
};

static const struct integer_range integer_ranges[DTYPE_COUNT] = {
    [DTYPE_INT8] = {8, true},   [DTYPE_UINT8] = {8, false},
    [DTYPE_INT32] = {32, true}, [DTYPE_UINT32] = {32, false},
    [DTYPE_INT64] = {64, true}, [DTYPE_UINT64] = {64, false},
};

/* Small integers with a total of at most `budget`: 1, 2, 3 repeatedly if that fits, else
 * ones. If n ones do not fit either, zeros separate them. */
static void small_numbers(int n, uint64_t budget, uint64_t *out)
{
    uint64_t n64 = (uint64_t)n;

    for (uint64_t i = 0; i < n64; i++)
        if (2 * n64 + 2 <= budget)
            out[i] = 1 + i % 3;
        else if (n64 <= budget)
            out[i] = 1;
        else
            out[i] = i * budget / n64 != (i + 1) * budget / n64;
}

static void float_table_sum(struct pattern *pattern, uint64_t *scratch)
{
    uint64_t budget = UINT64_C(1) << float_ranges[pattern->type].bits, total = 0;

    small_numbers(pattern->n, budget, scratch);
    for (int i = 0; i < pattern->n; i++) {
        pattern->table[i] = (double)scratch[i];
        total += scratch[i];
    }
    pattern->total = (double)total;
    pattern->mantissas = total > 0 ? budget / total : 0;
}

/* Libraries that scale inputs before the sum round each term. With only two non-zero
 * terms the error is a few units in the last place for any number of ranks. */
static void float_table_avg(struct pattern *pattern)
{
    pattern->table[0] = 1;
    pattern->total = 1;
    if (pattern->n > 1) {
        pattern->table[pattern->n / 2] = 2;
        pattern->total = 3;
    }
    pattern->mantissas =
        (UINT64_C(1) << float_ranges[pattern->type].bits) / (uint64_t)pattern->total;
}

static void float_table_prod(struct pattern *pattern)
{
    static const double first[] = {1, 2, -1, 0.5, 2, 0.5};

    pattern->total = 1;
    for (int i = 0; i < pattern->n; i++) {
        pattern->table[i] = i < 6 ? first[i] : -1;
        pattern->total *= pattern->table[i];
    }
    pattern->mantissas = (UINT64_C(1) << float_ranges[pattern->type].bits) - 1;
}

static void float_table_extremes(struct pattern *pattern)
{
    int bits = float_ranges[pattern->type].bits;
    int reach = bits < 10 ? (1 << bits) - 1 : 1023;

    pattern->least = pattern->greatest = 1 - reach;
    for (int i = 0; i < pattern->n; i++) {
        double value = (i * 4 + 1) % (2 * reach + 1) - reach;
        pattern->table[i] = value;
        pattern->least = value < pattern->least || i == 0 ? value : pattern->least;
        pattern->greatest =
            value > pattern->greatest || i == 0 ? value : pattern->greatest;
    }
    pattern->mantissas = 1;
}

static void integer_table_odd(struct pattern *pattern, bool product)
{
    pattern->integer_total = product ? 1 : 0;
    for (int i = 0; i < pattern->n; i++) {
        uint64_t value = pattern_mix(pattern->seed + (uint64_t)i) | 1;
        if (product && i == 0)
            value = 1;
        else if (!product && i == 0 && pattern->n % 2 == 0)
            value++; /* an odd total: its product with a scale is not always zero */
        pattern->integers[i] = value;
        pattern->integer_total =
            product ? pattern->integer_total * value : pattern->integer_total + value;
    }
}

/* Averages must not overflow: use positive numbers whose total fits. */
static void integer_table_avg(struct pattern *pattern)
{
    const struct integer_range *range = &integer_ranges[pattern->type];
    int bits = range->bits - (range->is_signed ? 1 : 0);
    uint64_t most = (UINT64_C(1) << (bits > 30 ? 30 : bits)) - 1;

    small_numbers(pattern->n, most / 4, pattern->integers);
    pattern->integer_total = 0;
    for (int i = 0; i < pattern->n; i++)
        pattern->integer_total += pattern->integers[i];
    pattern->scales = pattern->integer_total > 0 ? most / pattern->integer_total : 0;
}

static void integer_table_extremes(struct pattern *pattern)
{
    pattern->spread = integer_ranges[pattern->type].bits == 8 ? 20 : 1000;
    pattern->least = pattern->greatest = 0;
    for (int i = 0; i < pattern->n; i++) {
        int64_t value = (i * 4 + 1) % (2 * pattern->spread + 1) - pattern->spread;
        pattern->integers[i] = (uint64_t)value;
        if (i == 0 || (double)value < pattern->least)
            pattern->least = (double)value;
        if (i == 0 || (double)value > pattern->greatest)
            pattern->greatest = (double)value;
    }
}

static void build_tables(struct pattern *pattern)
{
    switch (pattern->redop) {
    case REDOP_SUM:
    case REDOP_MULSUM:
        if (pattern->is_float)
            float_table_sum(pattern, pattern->integers);
        else
            integer_table_odd(pattern, false);
        break;
    case REDOP_PROD:
        if (pattern->is_float)
            float_table_prod(pattern);
        else
            integer_table_odd(pattern, true);
        break;
    case REDOP_AVG:
        if (pattern->is_float)
            float_table_avg(pattern);
        else
            integer_table_avg(pattern);
        break;
    case REDOP_MIN:
    case REDOP_MAX:
        if (pattern->is_float)
            float_table_extremes(pattern);
        else
            integer_table_extremes(pattern);
        break;
    default:
        break;
    }
}

struct pattern *pattern_create(enum dtype type, int redop, int n, uint64_t seed)
{
    assert(n > 0);
    struct pattern *pattern = memory_zeroed(1, sizeof(*pattern), "data pattern");
    pattern->table = memory_zeroed((size_t)n, sizeof(*pattern->table), "data pattern");
    pattern->integers =
        memory_zeroed((size_t)n, sizeof(*pattern->integers), "data pattern");
    pattern->type = type;
    pattern->redop = redop;
    pattern->n = n;
    pattern->seed = pattern_mix(seed ^ UINT64_C(0x72696e6762656e63));
    pattern->is_float = float_ranges[type].bits > 0;
    pattern->element = (unsigned)dtype_size(type);
    pattern->is_signed = integer_ranges[type].is_signed;
    pattern->bits =
        pattern->is_float ? float_ranges[type].bits : integer_ranges[type].bits;
    pattern->exponent_min = float_ranges[type].exponent_min;
    pattern->exponent_max = float_ranges[type].exponent_max;
    build_tables(pattern);
    return pattern;
}

void pattern_destroy(struct pattern *pattern)
{
    if (!pattern)
        return;
    free(pattern->table);
    free(pattern->integers);
    free(pattern);
}

static void store_floats(enum dtype type, const double *values, size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) {
        float value = (float)values[i];
        switch (type) {
        case DTYPE_FLOAT64:
            ((double *)out)[i] = values[i];
            break;
        case DTYPE_FLOAT32:
            ((float *)out)[i] = value;
            break;
        case DTYPE_FLOAT16:
            ((uint16_t *)out)[i] = float16_encode(value);
            break;
        case DTYPE_BFLOAT16:
            ((uint16_t *)out)[i] = bfloat16_encode(value);
            break;
        case DTYPE_FLOAT8E4M3:
            ((uint8_t *)out)[i] = float8e4m3_encode(value);
            break;
        default:
            ((uint8_t *)out)[i] = float8e5m2_encode(value);
            break;
        }
    }
}

static void store_integers(size_t size, const uint64_t *values, size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) {
        switch (size) {
        case 1:
            ((uint8_t *)out)[i] = (uint8_t)values[i];
            break;
        case 2:
            ((uint16_t *)out)[i] = (uint16_t)values[i];
            break;
        case 4:
            ((uint32_t *)out)[i] = (uint32_t)values[i];
            break;
        default:
            ((uint64_t *)out)[i] = values[i];
            break;
        }
    }
}

/* Generate elements of the input of `rank`; rank -1: of the reduction's result. */
static void generate(const struct pattern *pattern, int rank, uint64_t first,
                     size_t count, void *out)
{
    double floats[BLOCK];
    uint64_t integers[BLOCK];

    for (size_t i = 0; i < count; i++) {
        uint64_t hash = pattern_hash(pattern->seed, first + i);
        if (pattern->is_float) {
            floats[i] = rank < 0 ? pattern_float_reduced(pattern, hash)
                                 : pattern_float_input(pattern, rank, hash);
        } else {
            integers[i] = rank < 0 ? pattern_integer_reduced(pattern, hash)
                                   : pattern_integer_input(pattern, rank, hash);
        }
    }
    if (pattern->is_float)
        store_floats(pattern->type, floats, count, out);
    else
        store_integers(dtype_size(pattern->type), integers, count, out);
}

static void generate_bits(const struct pattern *pattern, int rank, uint64_t first,
                          size_t count, void *out)
{
    uint64_t seed = pattern_mix(pattern->seed + (uint64_t)rank), bits[BLOCK];

    for (size_t i = 0; i < count; i++)
        bits[i] = pattern_hash(seed, first + i);
    store_integers(dtype_size(pattern->type), bits, count, out);
}

static void generate_all(const struct pattern *pattern, int rank, uint64_t first,
                         size_t count, void *out)
{
    size_t size = dtype_size(pattern->type);

    for (size_t done = 0; done < count; done += BLOCK) {
        size_t part = count - done < BLOCK ? count - done : BLOCK;
        char *to = (char *)out + done * size;
        if (pattern->redop < 0)
            generate_bits(pattern, rank, first + done, part, to);
        else
            generate(pattern, rank, first + done, part, to);
    }
}

void pattern_input(const struct pattern *pattern, int rank, uint64_t first, size_t count,
                   void *out)
{
    generate_all(pattern, rank, first, count, out);
}

bool pattern_receives(enum collective_kind kind, int rank, int root)
{
    return (kind != COLLECTIVE_REDUCE && kind != COLLECTIVE_GATHER) || rank == root;
}

void pattern_expected(const struct pattern *pattern, enum collective_kind kind, int rank,
                      int root, size_t call_count, uint64_t first, size_t count,
                      void *out)
{
    size_t size = dtype_size(pattern->type);

    if (pattern->redop >= 0) {
        uint64_t shift =
            kind == COLLECTIVE_REDUCE_SCATTER ? (uint64_t)rank * call_count : 0;
        generate_all(pattern, -1, first + shift, count, out);
        return;
    }
    for (size_t done = 0; done < count;) {
        uint64_t index = first + done, from;
        size_t part = call_count - (size_t)(index % call_count);
        int source;
        part = part < count - done ? part : count - done;
        pattern_source(kind, pattern->n, rank, root, call_count, index, &source, &from);
        generate_all(pattern, source, from, part, (char *)out + done * size);
        done += part;
    }
}

static uint64_t load_bits(enum dtype type, const void *element)
{
    uint64_t bits = 0;
    memcpy(&bits, element, dtype_size(type)); /* little-endian */
    return bits;
}

static double load_float(enum dtype type, uint64_t bits)
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

uint64_t pattern_distance(enum dtype type, const void *a, const void *b)
{
    return pattern_bits_distance(type, float_ranges[type].bits > 0,
                                 (unsigned)dtype_size(type), load_bits(type, a),
                                 load_bits(type, b));
}

const char *pattern_format(enum dtype type, const void *element,
                           char text[PATTERN_TEXT_MAX])
{
    uint64_t bits = load_bits(type, element);
    int width = integer_ranges[type].bits;

    if (width > 0 && integer_ranges[type].is_signed) {
        int64_t value = (int64_t)(bits << (64 - width)) >> (64 - width);
        snprintf(text, PATTERN_TEXT_MAX, "%" PRId64, value);
    } else if (width > 0) {
        snprintf(text, PATTERN_TEXT_MAX, "%" PRIu64, bits);
    } else if (pattern_is_nan(type, bits)) {
        snprintf(text, PATTERN_TEXT_MAX, "0x%" PRIx64, bits);
    } else {
        snprintf(text, PATTERN_TEXT_MAX, "%.17g", load_float(type, bits));
    }
    return text;
}

void pattern_scalar(enum dtype type, int rank, void *element)
{
    double value = pattern_float_scalar(rank);
    uint64_t integer = pattern_integer_scalar(rank);

    if (float_ranges[type].bits > 0)
        store_floats(type, &value, 1, element);
    else
        store_integers(dtype_size(type), &integer, 1, element);
}
