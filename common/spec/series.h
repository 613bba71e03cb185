/* SPDX-License-Identifier: Apache-2.0 */
/* series.h - enumerates the rows of a case in an order that is the same on the server and
 * in every worker: for each collective, data type, reduction and root; then for each
 * size; then out of place before in place; then for each group of ranks. Each cycle
 * repeats all rows. */
#ifndef RINGBENCH_COMMON_SPEC_SERIES_H
#define RINGBENCH_COMMON_SPEC_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/collective.h"

/* The values that the rows combine; arrays are borrowed. */
struct series_plan {
    const enum collective_kind *collectives;
    size_t n_collectives;
    const enum dtype *dtypes;
    size_t n_dtypes;
    const enum redop *redops;
    size_t n_redops;
    const uint64_t *sizes;
    size_t n_sizes;
    long root; /* -1: each rank is the root once */
    bool out_of_place, in_place;
    int world_size; /* number of ranks in the smallest group */
    int n_groups;   /* number of groups of ranks, see split.h; 0 counts as 1 */
    long cycles;    /* number of repetitions of all rows; 0 counts as 1 */
};

struct series_row {
    size_t row;    /* number of the row in the whole case, from 0 */
    size_t series; /* number of the combination (collective, dtype, redop, root, in place,
                      group), from 0 */
    long cycle;
    int group;
    enum collective_kind collective;
    enum dtype dtype;
    int redop; /* enum redop, or -1: none */
    int root;  /* root rank, or -1: none */
    bool in_place;
    uint64_t size; /* bytes as requested, before rounding */
};

size_t series_rows(const struct series_plan *plan);

/* Set *out to row number `row` of the plan; return false if there is none. */
bool series_row_at(const struct series_plan *plan, size_t row, struct series_row *out);

#endif
