/* SPDX-License-Identifier: Apache-2.0 */
/* collective.h - provides the names of collectives, data types and reductions, and
 * nccl-tests' arithmetic: counts, buffer sizes, in-place offsets, bus bandwidth factors.
 * Source of the arithmetic: NVIDIA/nccl-tests 2.19.6, src/<collective>.cu. */
#ifndef RINGBENCH_COMMON_SPEC_COLLECTIVE_H
#define RINGBENCH_COMMON_SPEC_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum collective_kind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_REDUCE,
    COLLECTIVE_ALLTOALL,
    COLLECTIVE_GATHER,
    COLLECTIVE_SCATTER,
    COLLECTIVE_SENDRECV,
    COLLECTIVE_HYPERCUBE, /* an all-gather in log2(n) exchanges */
    COLLECTIVE_ALLTOALLV, /* parts of different sizes, see traffic.h */
    COLLECTIVE_COUNT
};

enum dtype {
    DTYPE_INT8,
    DTYPE_UINT8,
    DTYPE_INT32,
    DTYPE_UINT32,
    DTYPE_INT64,
    DTYPE_UINT64,
    DTYPE_FLOAT16,
    DTYPE_FLOAT32,
    DTYPE_FLOAT64,
    DTYPE_BFLOAT16,
    DTYPE_FLOAT8E4M3,
    DTYPE_FLOAT8E5M2,
    DTYPE_COUNT
};

enum redop {
    REDOP_SUM,
    REDOP_PROD,
    REDOP_MIN,
    REDOP_MAX,
    REDOP_AVG,
    REDOP_MULSUM, /* a sum of inputs, each multiplied by its rank's own scalar */
    REDOP_COUNT
};

/* Convert between values and their names in JSON. A lookup returns -1 for an unknown
 * name. */
const char *collective_name(enum collective_kind kind);
int collective_lookup(const char *name);
const char *dtype_name(enum dtype type);
int dtype_lookup(const char *name);
/* Convert between data types and the names that nccl-tests prints. */
const char *dtype_name_nccl(enum dtype type);
int dtype_lookup_nccl(const char *name);
size_t dtype_size(enum dtype type);
const char *redop_name(enum redop op);
int redop_lookup(const char *name);

/* The sizes of a collective's buffers, in terms of a rank's rounded element count. */
enum collective_shape {
    SHAPE_FLAT,   /* all requested elements on both sides, not rounded */
    SHAPE_SPREAD, /* count on the send side, n times count on the receive side */
    SHAPE_NARROW, /* n times count on the send side, count on the receive side */
    SHAPE_SQUARE  /* n times count on both sides */
};

/* For n ranks, bus bandwidth = algorithm bandwidth * times * (n - less) / n. */
struct collective_factor {
    int times, less;
    const char *formula; /* the factor as text */
};

/* The properties of a collective, defined only here. */
struct collective_facts {
    const char *name;
    enum collective_shape shape;
    const struct collective_factor *factor;
    bool reduces;            /* the collective uses a reduction */
    bool is_rooted;          /* the collective needs a root rank */
    bool checks_in_place;    /* nccl-tests verifies the in-place variant, too */
    bool needs_power_of_two; /* other numbers of ranks give a count of 0: no data to move
                              */
    bool counts_received;    /* algorithm bandwidth counts n - 1 parts, not the size */
    bool needs_counts;       /* the ranks' parts differ in size, see traffic.h */
};

/* Return a collective's properties; never NULL; static. */
const struct collective_facts *collective_facts(enum collective_kind kind);

/* One size of one collective, laid out as in nccl-tests. */
struct collective_layout {
    size_t count;      /* count argument of the call, in elements; 0: no data to move */
    size_t send_count; /* elements of the send buffer */
    size_t recv_count; /* elements of the receive buffer */
    size_t size_bytes; /* max(send, recv) in bytes: the "size" column */
    /* bytes for the algorithm bandwidth; usually equal to size_bytes */
    size_t moved_bytes;
    /* In place, both sides share one buffer of max(send, recv). Rank r's parts begin at r
     * times these offsets, in elements. */
    size_t send_inplace_offset;
    size_t recv_inplace_offset;
};

/* Lay out `size` bytes for n ranks (n >= 1). For alltoallv, all parts are assumed to be
 * equal; traffic_plan_create() adjusts them. */
void collective_layout(enum collective_kind kind, uint64_t size, enum dtype type, int n,
                       struct collective_layout *layout);

/* Return the factor from algorithm bandwidth to bus bandwidth; n >= 1. */
double collective_bus_factor(enum collective_kind kind, int n);

/* Return the algorithm bandwidth in GB/s (1e9 bytes) of a call that took `seconds`. */
double collective_algbw_gbs(const struct collective_layout *layout, double seconds);

#endif
