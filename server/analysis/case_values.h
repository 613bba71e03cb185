/* SPDX-License-Identifier: Apache-2.0 */
/* case_values.h - collects the values that each case of a run measured: one for each size
 * of each series, and one for each figure
 *
 * A case is the unit of evidence, because it starts new processes. Its calls and cycles
 * share the conditions of these processes. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CASE_VALUES_H
#define RINGBENCH_SERVER_ANALYSIS_CASE_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/summary/summary.h"

/* The median over the case's rows of a size (one row per cycle), or over the values of a
 * figure. */
struct case_point {
    int64_t size; /* bytes; -1: a figure without a size */
    union {
        struct {
            /* busbw_gbs is the algorithm bandwidth for a single rank, whose bus bandwidth
             * is 0 */
            double time_us, busbw_gbs;
        };
        double value;
    };
};

struct case_series {
    int case_no;
    bool is_figure;
    json_t *key;    /* see summary.h; a figure's key also contains "rank" if known */
    char *identity; /* text that identifies the series across runs */
    struct case_point *points; /* by ascending size; n_points may be 0 */
    size_t n_points;
};

struct case_values {
    struct case_series *series; /* sorted by case, then by identity */
    size_t n;
};

/* Set the fields of a summary query on which case_values_create() depends. The caller
 * sets the others. */
void case_values_query(struct summary_query *query);

/* Create the values from a summary that is grouped by case and not thinned. */
struct case_values *case_values_create(const struct summary *summary);
void case_values_destroy(struct case_values *values);

/* Return the first series of a case, and store the number of its series in *n. */
const struct case_series *case_values_of(const struct case_values *values, int case_no,
                                         size_t *n);

/* Return the one of n series that matches the identity, or NULL. */
const struct case_series *case_series_find(const struct case_series *series, size_t n,
                                           const char *identity);

/* Move at[], a point's index in each of n series, to the next size that all series
 * contain. Returns false if there is no such size. To continue after a size, the caller
 * increments at[0]. */
bool case_series_meet(const struct case_series *const *series, size_t *at, size_t n,
                      int64_t *size);

/* Return the figure by which a point is judged: the figure for its size's band, or the
 * point's only value. */
double case_series_figure(const struct case_series *series, size_t at);

#endif
