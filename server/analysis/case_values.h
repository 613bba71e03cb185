/* case_values.h - what each case of a run has measured: a value for each size of each
 * series, and for each figure. A case is the unit of evidence: its processes are new,
 * while calls and cycles within it share whatever it happened to get. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CASE_VALUES_H
#define RINGBENCH_SERVER_ANALYSIS_CASE_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/summary/summary.h"

/* Medians over the case's rows of a size (cycles), or over the values of a figure. */
struct case_point {
    int64_t size; /* bytes; -1: a figure that has none */
    union {
        struct {
            double time_us, busbw_gbs; /* algbw of a single rank, whose busbw is 0 */
        };
        double value;
    };
};

struct case_series {
    int case_no;
    bool is_figure;
    json_t *key;               /* see summary.h; of a figure with "rank", if it has one */
    char *identity;            /* text, alike in all runs for what is the same series */
    struct case_point *points; /* by rising size; n_points may be 0 */
    size_t n_points;
};

struct case_values {
    struct case_series *series; /* by case, then by identity */
    size_t n;
};

/* How to ask the store for what case_values_create needs: the rest of the query is the
 * caller's. */
void case_values_query(struct summary_query *query);

/* From a summary by case that left nothing out. */
struct case_values *case_values_create(const struct summary *summary);
void case_values_destroy(struct case_values *values);

/* The series of a case: *n of them, the first of which is returned. */
const struct case_series *case_values_of(const struct case_values *values, int case_no,
                                         size_t *n);

/* The one of those n that is the same series; NULL: there is none. */
const struct case_series *case_series_find(const struct case_series *series, size_t n,
                                           const char *identity);

/* Take at[], an index of a point in each of n series, on to the next size that all have;
 * false: there is none. Whoever has dealt with one goes on from at[0] + 1. */
bool case_series_meet(const struct case_series *const *series, size_t *at, size_t n,
                      int64_t *size);

/* By what that point is judged: in the band of its size, or its only value. */
double case_series_figure(const struct case_series *series, size_t at);

#endif
