/* SPDX-License-Identifier: Apache-2.0 */
/* collective.c - provides the names of collectives and nccl-tests' arithmetic for them */
#include "common/spec/collective.h"

#include <string.h>

static const struct collective_factor rounds_twice = {2, 1, "2 (n - 1) / n"};
static const struct collective_factor rounds_once = {1, 1, "(n - 1) / n"};
static const struct collective_factor whole = {1, 0, "1"};

/* clang-format off */
static const struct collective_facts kinds[COLLECTIVE_COUNT] = {
    [COLLECTIVE_ALL_REDUCE] = {"all_reduce", SHAPE_FLAT, &rounds_twice,
        .reduces = true, .checks_in_place = true},
    [COLLECTIVE_ALL_GATHER] = {"all_gather", SHAPE_SPREAD, &rounds_once,
        .checks_in_place = true},
    [COLLECTIVE_REDUCE_SCATTER] = {"reduce_scatter", SHAPE_NARROW, &rounds_once,
        .reduces = true, .checks_in_place = true},
    [COLLECTIVE_BROADCAST] = {"broadcast", SHAPE_FLAT, &whole,
        .is_rooted = true, .checks_in_place = true},
    [COLLECTIVE_REDUCE] = {"reduce", SHAPE_FLAT, &whole,
        .reduces = true, .is_rooted = true, .checks_in_place = true},
    [COLLECTIVE_ALLTOALL] = {"alltoall", SHAPE_SQUARE, &rounds_once,
        .reduces = false},
    [COLLECTIVE_GATHER] = {"gather", SHAPE_SPREAD, &rounds_once,
        .is_rooted = true, .checks_in_place = true},
    [COLLECTIVE_SCATTER] = {"scatter", SHAPE_NARROW, &rounds_once,
        .is_rooted = true, .checks_in_place = true},
    [COLLECTIVE_SENDRECV] = {"sendrecv", SHAPE_FLAT, &whole,
        .reduces = false},
    /* The hypercube's algorithm bandwidth already counts only the bytes that a rank
     * receives from others. */
    [COLLECTIVE_HYPERCUBE] = {"hypercube", SHAPE_SPREAD, &whole,
        .checks_in_place = true, .needs_power_of_two = true, .counts_received = true},
    [COLLECTIVE_ALLTOALLV] = {"alltoallv", SHAPE_SQUARE, &rounds_once,
        .needs_counts = true},
};
/* clang-format on */

static const struct {
    const char *name, *nccl_tests;
    size_t size;
} dtypes[DTYPE_COUNT] = {
    [DTYPE_INT8] = {"int8", "int8", 1},
    [DTYPE_UINT8] = {"uint8", "uint8", 1},
    [DTYPE_INT32] = {"int32", "int32", 4},
    [DTYPE_UINT32] = {"uint32", "uint32", 4},
    [DTYPE_INT64] = {"int64", "int64", 8},
    [DTYPE_UINT64] = {"uint64", "uint64", 8},
    [DTYPE_FLOAT16] = {"float16", "half", 2},
    [DTYPE_FLOAT32] = {"float32", "float", 4},
    [DTYPE_FLOAT64] = {"float64", "double", 8},
    [DTYPE_BFLOAT16] = {"bfloat16", "bfloat16", 2},
    [DTYPE_FLOAT8E4M3] = {"float8e4m3", "f8e4m3", 1},
    [DTYPE_FLOAT8E5M2] = {"float8e5m2", "f8e5m2", 1},
};

static const char *const redops[REDOP_COUNT] = {
    [REDOP_SUM] = "sum", [REDOP_PROD] = "prod", [REDOP_MIN] = "min",
    [REDOP_MAX] = "max", [REDOP_AVG] = "avg",   [REDOP_MULSUM] = "mulsum",
};

const struct collective_facts *collective_facts(enum collective_kind kind)
{
    return &kinds[kind];
}

const char *collective_name(enum collective_kind kind)
{
    return kinds[kind].name;
}

int collective_lookup(const char *name)
{
    for (int i = 0; i < COLLECTIVE_COUNT; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return i;
    return -1;
}

const char *dtype_name(enum dtype type)
{
    return dtypes[type].name;
}

int dtype_lookup(const char *name)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (strcmp(name, dtypes[i].name) == 0)
            return i;
    return -1;
}

const char *dtype_name_nccl(enum dtype type)
{
    return dtypes[type].nccl_tests;
}

int dtype_lookup_nccl(const char *name)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (strcmp(name, dtypes[i].nccl_tests) == 0)
            return i;
    return -1;
}

size_t dtype_size(enum dtype type)
{
    return dtypes[type].size;
}

const char *redop_name(enum redop op)
{
    return redops[op];
}

int redop_lookup(const char *name)
{
    for (int i = 0; i < REDOP_COUNT; i++)
        if (strcmp(name, redops[i]) == 0)
            return i;
    return -1;
}

/* Round elements down to a multiple of 16 bytes, as nccl-tests aligns parts. */
static size_t align_count(size_t count, size_t element)
{
    size_t step = 16 / element;

    return count / step * step;
}

void collective_layout(enum collective_kind kind, uint64_t size, enum dtype type, int n,
                       struct collective_layout *layout)
{
    size_t element = dtype_size(type);
    size_t total = (size_t)(size / element);
    size_t share = align_count(total / (size_t)n, element);
    size_t most;

    memset(layout, 0, sizeof(*layout));
    layout->count = kinds[kind].shape == SHAPE_FLAT ? total : share;
    layout->send_count = layout->count;
    layout->recv_count = layout->count;
    switch (kinds[kind].shape) {
    case SHAPE_FLAT:
        break;
    case SHAPE_SPREAD:
        layout->recv_count = share * (size_t)n;
        layout->send_inplace_offset = share;
        break;
    case SHAPE_NARROW:
        layout->send_count = share * (size_t)n;
        layout->recv_inplace_offset = share;
        break;
    case SHAPE_SQUARE:
        layout->send_count = share * (size_t)n;
        layout->recv_count = share * (size_t)n;
        break;
    }
    most =
        layout->send_count > layout->recv_count ? layout->send_count : layout->recv_count;
    layout->size_bytes = layout->moved_bytes = most * element;
    if (kinds[kind].counts_received)
        layout->moved_bytes = share * (size_t)(n - 1) * element;
}

double collective_bus_factor(enum collective_kind kind, int n)
{
    const struct collective_factor *factor = kinds[kind].factor;

    return (double)factor->times * (n - factor->less) / n;
}

double collective_algbw_gbs(const struct collective_layout *layout, double seconds)
{
    return seconds > 0.0 ? (double)layout->moved_bytes / seconds / 1e9 : 0.0;
}
