/* pattern.c - what the buffers hold when a result is checked */
#include "agent/worker/pattern.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/numeric.h"

#define BLOCK 256 /* elements converted at a time */

/* What a floating point type can hold exactly. Exponents leave a factor of four on either
 * side for products. */
struct float_range {
    int bits;                       /* of the significand, with the implicit one */
    int exponent_min, exponent_max; /* of a scale that multiplies at most 2^bits */
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

struct pattern {
    enum dtype type;
    int redop, n;
    uint64_t seed;
    bool is_float;
    /* Floating point: value = sign * mantissa * 2^exponent * table. */
    uint64_t mantissas;            /* 1 .. this */
    double least, greatest, total; /* of the table */
    /* Integers */
    uint64_t scales; /* avg: 1 .. this */
    int64_t spread;  /* min, max: table within -spread .. spread */
    uint64_t integer_total;
    double *table;
    uint64_t *integers;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t hash_index(uint64_t seed, uint64_t index)
{
    return mix(seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* 0 .. n-1 from the hash's upper half. */
static uint32_t scale_to(uint64_t hash, uint32_t n)
{
    return (uint32_t)(((hash >> 32) * n) >> 32);
}

static int position(const struct pattern *pattern, int rank, uint64_t hash)
{
    int at = rank + (int)scale_to(hash, (uint32_t)pattern->n);
    return at >= pattern->n ? at - pattern->n : at;
}

/* Small whole numbers with a total of at most `budget`: 1, 2, 3 in turn if they fit, else
 * ones, spread out with zeros between them when even these do not. */
static void small_numbers(int n, uint64_t budget, uint64_t *out)
{
    uint64_t n64 = (uint64_t)n;

    for (uint64_t i = 0; i < n64; i++) {
        if (2 * n64 + 2 <= budget) {
            out[i] = 1 + i % 3;
        } else if (n64 <= budget) {
            out[i] = 1;
        } else {
            out[i] = i * budget / n64 != (i + 1) * budget / n64;
        }
    }
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
    pattern->mantissas = budget / total;
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
        uint64_t value = mix(pattern->seed + (uint64_t)i) | 1;
        if (product && i == 0) {
            value = 1;
        } else if (!product && i == 0 && pattern->n % 2 == 0) {
            value++; /* an odd total, so that no scale times it is always zero */
        }
        pattern->integers[i] = value;
        pattern->integer_total =
            product ? pattern->integer_total * value : pattern->integer_total + value;
    }
}

/* Averages must not overflow: positive numbers whose total fits. */
static void integer_table_avg(struct pattern *pattern)
{
    const struct integer_range *range = &integer_ranges[pattern->type];
    int bits = range->bits - (range->is_signed ? 1 : 0);
    uint64_t most = (UINT64_C(1) << (bits > 30 ? 30 : bits)) - 1;

    small_numbers(pattern->n, most / 4, pattern->integers);
    pattern->integer_total = 0;
    for (int i = 0; i < pattern->n; i++) {
        pattern->integer_total += pattern->integers[i];
    }
    pattern->scales = most / pattern->integer_total;
}

static void integer_table_extremes(struct pattern *pattern)
{
    pattern->spread = integer_ranges[pattern->type].bits == 8 ? 20 : 1000;
    pattern->least = pattern->greatest = 0;
    for (int i = 0; i < pattern->n; i++) {
        int64_t value = (i * 4 + 1) % (2 * pattern->spread + 1) - pattern->spread;
        pattern->integers[i] = (uint64_t)value;
        if (i == 0 || (double)value < pattern->least) {
            pattern->least = (double)value;
        }
        if (i == 0 || (double)value > pattern->greatest) {
            pattern->greatest = (double)value;
        }
    }
}

static void build_tables(struct pattern *pattern)
{
    switch (pattern->redop) {
    case REDOP_SUM:
        if (pattern->is_float) {
            float_table_sum(pattern, pattern->integers);
        } else {
            integer_table_odd(pattern, false);
        }
        break;
    case REDOP_PROD:
        if (pattern->is_float) {
            float_table_prod(pattern);
        } else {
            integer_table_odd(pattern, true);
        }
        break;
    case REDOP_AVG:
        if (pattern->is_float) {
            float_table_sum(pattern, pattern->integers);
        } else {
            integer_table_avg(pattern);
        }
        break;
    case REDOP_MIN:
    case REDOP_MAX:
        if (pattern->is_float) {
            float_table_extremes(pattern);
        } else {
            integer_table_extremes(pattern);
        }
        break;
    default:
        break;
    }
}

struct pattern *pattern_create(enum dtype type, int redop, int n, uint64_t seed,
                               struct error *err)
{
    if (n < 1 || n > PATTERN_RANKS_MAX) {
        error_set(err, ERROR_UNSUPPORTED, "data for %d ranks, at most %d", n,
                  PATTERN_RANKS_MAX);
        return NULL;
    }
    struct pattern *pattern = calloc(1, sizeof(*pattern));
    if (pattern) {
        pattern->table = calloc((size_t)n, sizeof(*pattern->table));
        pattern->integers = calloc((size_t)n, sizeof(*pattern->integers));
    }
    if (!pattern || !pattern->table || !pattern->integers) {
        pattern_destroy(pattern);
        error_set(err, ERROR_MEMORY, "data pattern: out of memory");
        return NULL;
    }
    pattern->type = type;
    pattern->redop = redop;
    pattern->n = n;
    pattern->seed = mix(seed ^ UINT64_C(0x72696e6762656e63));
    pattern->is_float = float_ranges[type].bits > 0;
    build_tables(pattern);
    return pattern;
}

void pattern_destroy(struct pattern *pattern)
{
    if (!pattern) {
        return;
    }
    free(pattern->table);
    free(pattern->integers);
    free(pattern);
}

static double float_scale(const struct pattern *pattern, uint64_t hash)
{
    const struct float_range *range = &float_ranges[pattern->type];
    uint64_t second = mix(hash);
    uint32_t exponents = (uint32_t)(range->exponent_max - range->exponent_min + 1);
    int exponent = range->exponent_min + (int)scale_to(second, exponents);
    uint64_t mantissa = 1 + (second & 0xffffffffu) % pattern->mantissas;
    double value = (double)mantissa * (hash & 1 ? -1.0 : 1.0);

    /* 2^exponent, put together from its bits. */
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof(power));
    return value * power;
}

static double float_input(const struct pattern *pattern, int rank, uint64_t hash)
{
    int at = position(pattern, rank, hash);

    if (pattern->redop == REDOP_PROD && at != 0) {
        return pattern->table[at];
    }
    return float_scale(pattern, hash) * pattern->table[at];
}

static double float_reduced(const struct pattern *pattern, uint64_t hash)
{
    double scale = float_scale(pattern, hash);

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

/* min, max: a number with room for the table on both sides. */
static uint64_t integer_base(const struct pattern *pattern, uint64_t hash)
{
    const struct integer_range *range = &integer_ranges[pattern->type];
    int bits = range->bits;
    uint64_t full = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t spread = (uint64_t)pattern->spread;
    uint64_t base = spread + mix(hash) % (full - 2 * spread + 1);

    return range->is_signed ? base - (UINT64_C(1) << (bits - 1)) : base;
}

static uint64_t integer_scale(const struct pattern *pattern, uint64_t hash)
{
    switch (pattern->redop) {
    case REDOP_AVG:
        return 1 + mix(hash) % pattern->scales;
    case REDOP_MIN:
    case REDOP_MAX:
        return integer_base(pattern, hash);
    default:
        return mix(hash) | 1;
    }
}

static uint64_t integer_input(const struct pattern *pattern, int rank, uint64_t hash)
{
    int at = position(pattern, rank, hash);
    uint64_t entry = pattern->integers[at];

    if (pattern->redop == REDOP_PROD && at != 0) {
        return entry;
    }
    uint64_t scale = integer_scale(pattern, hash);
    bool is_extreme = pattern->redop == REDOP_MIN || pattern->redop == REDOP_MAX;
    return is_extreme ? scale + entry : scale * entry;
}

static uint64_t integer_reduced(const struct pattern *pattern, uint64_t hash)
{
    uint64_t scale = integer_scale(pattern, hash);

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

/* rank -1: the reduced values. */
static void generate(const struct pattern *pattern, int rank, uint64_t first,
                     size_t count, void *out)
{
    double floats[BLOCK];
    uint64_t integers[BLOCK];

    for (size_t i = 0; i < count; i++) {
        uint64_t hash = hash_index(pattern->seed, first + i);
        if (pattern->is_float) {
            floats[i] = rank < 0 ? float_reduced(pattern, hash)
                                 : float_input(pattern, rank, hash);
        } else {
            integers[i] = rank < 0 ? integer_reduced(pattern, hash)
                                   : integer_input(pattern, rank, hash);
        }
    }
    if (pattern->is_float) {
        store_floats(pattern->type, floats, count, out);
    } else {
        store_integers(dtype_size(pattern->type), integers, count, out);
    }
}

static void generate_bits(const struct pattern *pattern, int rank, uint64_t first,
                          size_t count, void *out)
{
    uint64_t seed = mix(pattern->seed + (uint64_t)rank), bits[BLOCK];

    for (size_t i = 0; i < count; i++) {
        bits[i] = hash_index(seed, first + i);
    }
    store_integers(dtype_size(pattern->type), bits, count, out);
}

static void generate_all(const struct pattern *pattern, int rank, uint64_t first,
                         size_t count, void *out)
{
    size_t size = dtype_size(pattern->type);

    for (size_t done = 0; done < count; done += BLOCK) {
        size_t part = count - done < BLOCK ? count - done : BLOCK;
        char *to = (char *)out + done * size;
        if (pattern->redop < 0) {
            generate_bits(pattern, rank, first + done, part, to);
        } else {
            generate(pattern, rank, first + done, part, to);
        }
    }
}

void pattern_input(const struct pattern *pattern, int rank, uint64_t first, size_t count,
                   void *out)
{
    generate_all(pattern, rank, first, count, out);
}

void pattern_reduced(const struct pattern *pattern, uint64_t first, size_t count,
                     void *out)
{
    generate_all(pattern, -1, first, count, out);
}

bool pattern_receives(enum collective_kind kind, int rank, int root)
{
    return (kind != COLLECTIVE_REDUCE && kind != COLLECTIVE_GATHER) || rank == root;
}

/* Element `index` of rank's receive buffer comes from element *from of *source. Every
 * block of call_count elements is contiguous in both. */
static void copy_source(enum collective_kind kind, const struct pattern *pattern,
                        int rank, int root, size_t call_count, uint64_t index,
                        int *source, uint64_t *from)
{
    *from = index;
    switch (kind) {
    case COLLECTIVE_BROADCAST:
        *source = root;
        break;
    case COLLECTIVE_SENDRECV:
        *source = (rank + pattern->n - 1) % pattern->n;
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
        copy_source(kind, pattern, rank, root, call_count, index, &source, &from);
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

static double load_float(enum dtype type, const void *element)
{
    uint64_t bits = load_bits(type, element);
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
    uint64_t x = load_bits(type, a), y = load_bits(type, b);
    uint64_t sign = UINT64_C(1) << (8 * dtype_size(type) - 1);

    if (x == y) {
        return 0;
    }
    if (float_ranges[type].bits == 0) {
        return UINT64_MAX;
    }
    if ((x | y) == sign) {
        return 0; /* the two zeros */
    }
    if (isnan(load_float(type, a)) || isnan(load_float(type, b)) || ((x ^ y) & sign)) {
        return UINT64_MAX;
    }
    return x > y ? x - y : y - x;
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
    } else if (isnan(load_float(type, element))) {
        snprintf(text, PATTERN_TEXT_MAX, "0x%" PRIx64, bits);
    } else {
        snprintf(text, PATTERN_TEXT_MAX, "%.17g", load_float(type, element));
    }
    return text;
}

void pattern_one(enum dtype type, void *element)
{
    double one = 1;
    uint64_t integer = 1;

    if (float_ranges[type].bits > 0) {
        store_floats(type, &one, 1, element);
    } else {
        store_integers(dtype_size(type), &integer, 1, element);
    }
}
