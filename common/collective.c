/* collective.c - names and nccl-tests' arithmetic of the collectives */
#include "common/collective.h"

#include <string.h>

/* How a collective's buffers relate to the rounded per-rank count. */
enum shape {
    SHAPE_FLAT,   /* count0 on both sides */
    SHAPE_SPREAD, /* count on the send side, n times count on the receive side */
    SHAPE_NARROW, /* n times count on the send side, count on the receive side */
    SHAPE_SQUARE  /* n times count on both sides */
};

static const struct {
    const char *name;
    enum shape shape;
    bool reduces, rooted, checks_in_place;
} kinds[COLLECTIVE_COUNT] = {
    [COLLECTIVE_ALL_REDUCE] = {"all_reduce", SHAPE_FLAT, true, false, true},
    [COLLECTIVE_ALL_GATHER] = {"all_gather", SHAPE_SPREAD, false, false, true},
    [COLLECTIVE_REDUCE_SCATTER] = {"reduce_scatter", SHAPE_NARROW, true, false, true},
    [COLLECTIVE_BROADCAST] = {"broadcast", SHAPE_FLAT, false, true, true},
    [COLLECTIVE_REDUCE] = {"reduce", SHAPE_FLAT, true, true, true},
    [COLLECTIVE_ALLTOALL] = {"alltoall", SHAPE_SQUARE, false, false, false},
    [COLLECTIVE_GATHER] = {"gather", SHAPE_SPREAD, false, true, true},
    [COLLECTIVE_SCATTER] = {"scatter", SHAPE_NARROW, false, true, true},
    [COLLECTIVE_SENDRECV] = {"sendrecv", SHAPE_FLAT, false, false, false},
    [COLLECTIVE_HYPERCUBE] = {"hypercube", SHAPE_SPREAD, false, false, true},
    [COLLECTIVE_ALLTOALLV] = {"alltoallv", SHAPE_SQUARE, false, false, false},
};

static const struct {
    const char *name;
    size_t size;
} dtypes[DTYPE_COUNT] = {
    [DTYPE_INT8] = {"int8", 1},
    [DTYPE_UINT8] = {"uint8", 1},
    [DTYPE_INT32] = {"int32", 4},
    [DTYPE_UINT32] = {"uint32", 4},
    [DTYPE_INT64] = {"int64", 8},
    [DTYPE_UINT64] = {"uint64", 8},
    [DTYPE_FLOAT16] = {"float16", 2},
    [DTYPE_FLOAT32] = {"float32", 4},
    [DTYPE_FLOAT64] = {"float64", 8},
    [DTYPE_BFLOAT16] = {"bfloat16", 2},
    [DTYPE_FLOAT8E4M3] = {"float8e4m3", 1},
    [DTYPE_FLOAT8E5M2] = {"float8e5m2", 1},
};

static const char *const redops[REDOP_COUNT] = {
    [REDOP_SUM] = "sum", [REDOP_PROD] = "prod", [REDOP_MIN] = "min",
    [REDOP_MAX] = "max", [REDOP_AVG] = "avg",   [REDOP_MULSUM] = "mulsum",
};

const char *collective_name(enum collective_kind kind)
{
    return kinds[kind].name;
}

int collective_lookup(const char *name)
{
    for (int i = 0; i < COLLECTIVE_COUNT; i++) {
        if (strcmp(name, kinds[i].name) == 0)
            return i;
    }
    return -1;
}

const char *dtype_name(enum dtype type)
{
    return dtypes[type].name;
}

int dtype_lookup(const char *name)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (strcmp(name, dtypes[i].name) == 0)
            return i;
    }
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
    for (int i = 0; i < REDOP_COUNT; i++) {
        if (strcmp(name, redops[i]) == 0)
            return i;
    }
    return -1;
}

bool collective_reduces(enum collective_kind kind)
{
    return kinds[kind].reduces;
}

bool collective_is_rooted(enum collective_kind kind)
{
    return kinds[kind].rooted;
}

bool collective_checks_in_place(enum collective_kind kind)
{
    return kinds[kind].checks_in_place;
}

bool collective_needs_power_of_two(enum collective_kind kind)
{
    return kind == COLLECTIVE_HYPERCUBE;
}

bool collective_is_shared_out(enum collective_kind kind)
{
    return kinds[kind].shape != SHAPE_FLAT;
}

/* Elements rounded down to a multiple of 16 bytes, as nccl-tests aligns what it divides
 * among ranks. */
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
    if (kind == COLLECTIVE_HYPERCUBE)
        layout->moved_bytes = share * (size_t)(n - 1) * element;
}

double collective_bus_factor(enum collective_kind kind, int n)
{
    double ranks = n;

    if (kind == COLLECTIVE_ALL_REDUCE)
        return 2.0 * (ranks - 1.0) / ranks;
    if (kinds[kind].shape != SHAPE_FLAT && kind != COLLECTIVE_HYPERCUBE)
        return (ranks - 1.0) / ranks;
    return 1.0;
}

double collective_algbw_gbs(const struct collective_layout *layout, double seconds)
{
    return seconds > 0.0 ? (double)layout->moved_bytes / seconds / 1e9 : 0.0;
}
