/* SPDX-License-Identifier: Apache-2.0 */
/* case_values.c - collects the values that each case of a run measured */
#include "server/analysis/case_values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/bands.h"

#define POINTS_MAX ((size_t)32 << 20) /* more points than a summary can contain */

void case_values_query(struct summary_query *query)
{
    query->by = SUMMARY_BY_CASE;
    query->points = POINTS_MAX;
    query->is_bare = true;
}

static void series_release(struct case_series *series)
{
    json_decref(series->key);
    free(series->identity);
    free(series->points);
}

void case_values_destroy(struct case_values *values)
{
    if (!values)
        return;
    for (size_t i = 0; i < values->n; i++)
        series_release(&values->series[i]);
    free(values->series);
    free(values);
}

/* Return a text that identifies a series across runs. It omits the series number, which
 * is valid within one run only, and members that do not distinguish series. */
static char *identity_of(const json_t *key)
{
    static const char *const not_of_it[] = {"series", "simulated", "emulated",
                                            "ranks_per_gpu", "higher_is_better"};
    json_t *rest = json_copy((json_t *)(uintptr_t)key);
    char *text;

    for (size_t i = 0; i < sizeof(not_of_it) / sizeof(not_of_it[0]); i++)
        json_object_del(rest, not_of_it[i]);
    text = rest ? json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(rest);
    return text;
}

static void take_rows(const struct summary_series *from, struct case_series *to)
{
    to->points = memory_zeroed(from->n_points + 1, sizeof(*to->points), "a case's rows");
    assert(from->n_points == from->points_total);
    for (size_t i = 0; i < from->n_points; i++) {
        const struct summary_point *point = &from->points[i];
        double gbs = point->busbw_gbs > 0 ? point->busbw_gbs : point->algbw_gbs;

        if (point->rows > 0 && point->time_us > 0)
            to->points[to->n_points++] = (struct case_point){
                .size = point->size, .time_us = point->time_us, .busbw_gbs = gbs};
    }
    to->case_no = from->case_no;
    to->key = json_incref(from->key);
    to->identity = identity_of(to->key);
}

static int compare_values(const void *a, const void *b)
{
    const struct summary_value *left = a, *right = b;
    int order = (left->x > right->x) - (left->x < right->x);

    return order ? order : (left->value > right->value) - (left->value < right->value);
}

/* Return the median of the values of one size, which are in ascending order. */
static double middle(const struct summary_value *values, size_t n)
{
    return (values[(n - 1) / 2].value + values[n / 2].value) / 2;
}

/* Convert a size to an integer. A program may report any number as the size. */
static int64_t size_of(double x)
{
    return x >= (double)INT64_MAX ? INT64_MAX : x > -1 ? (int64_t)x : -1;
}

static void take_values(struct summary_value *values, size_t n, bool has_sizes,
                        struct case_series *to)
{
    size_t end;

    for (size_t i = 0; i < n && !has_sizes; i++)
        values[i].x = -1;
    qsort(values, n, sizeof(*values), compare_values);
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && !(values[end].x > values[i].x);)
            end++;
        to->points[to->n_points++] = (struct case_point){
            .size = size_of(values[i].x), .value = middle(values + i, end - i)};
    }
}

static void take_figure(const struct summary_figure *from, struct case_series *to)
{
    const char *x = json_get_str(from->key, "x", NULL);
    struct summary_value *values =
        memory_zeroed(from->n_values + 1, sizeof(*values), "a case's figures");

    to->is_figure = true;
    to->case_no = from->case_no;
    to->key = json_copy(from->key);
    if (from->rank >= 0)
        json_object_set_new(to->key, "rank", json_integer(from->rank));
    to->points =
        memory_zeroed(from->n_values + 1, sizeof(*to->points), "a case's figures");
    to->identity = identity_of(to->key);
    if (from->n_values > 0)
        memcpy(values, from->values, from->n_values * sizeof(*values));
    take_values(values, from->n_values, x && strcmp(x, "size") == 0, to);
    free(values);
}

static int compare_series(const void *a, const void *b)
{
    const struct case_series *left = a, *right = b;

    if (left->case_no != right->case_no)
        return left->case_no < right->case_no ? -1 : 1;
    return strcmp(left->identity, right->identity);
}

struct case_values *case_values_create(const struct summary *summary)
{
    struct case_values *values = memory_zeroed(1, sizeof(*values), "the values of cases");

    values->series = memory_zeroed(summary->n_series + summary->n_figures + 1,
                                   sizeof(*values->series), "the values of cases");
    for (size_t i = 0; i < summary->n_series; i++)
        take_rows(&summary->series[i], &values->series[values->n++]);
    for (size_t i = 0; i < summary->n_figures; i++)
        take_figure(&summary->figures[i], &values->series[values->n++]);
    qsort(values->series, values->n, sizeof(*values->series), compare_series);
    return values;
}

/* Return the index of the first series of this case or, if there is none, of a later
 * case. Return values->n if there is no later case. */
static size_t first_of(const struct case_values *values, int case_no)
{
    size_t low = 0, high = values->n;

    while (low < high) {
        size_t at = (low + high) / 2;

        if (values->series[at].case_no < case_no)
            low = at + 1;
        else
            high = at;
    }
    return low;
}

const struct case_series *case_values_of(const struct case_values *values, int case_no,
                                         size_t *n)
{
    size_t first = first_of(values, case_no), end = first_of(values, case_no + 1);

    *n = end - first;
    return values->series + first;
}

const struct case_series *case_series_find(const struct case_series *series, size_t n,
                                           const char *identity)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t at = (low + high) / 2;
        int order = strcmp(identity, series[at].identity);

        if (order == 0)
            return &series[at];
        if (order < 0)
            high = at;
        else
            low = at + 1;
    }
    return NULL;
}

bool case_series_meet(const struct case_series *const *series, size_t *at, size_t n,
                      int64_t *size)
{
    size_t alike = 0;

    *size = -1;
    for (size_t i = 0; alike < n; i = (i + 1) % n) {
        const struct case_point *points = series[i]->points;

        while (at[i] < series[i]->n_points && points[at[i]].size < *size)
            at[i]++;
        if (at[i] == series[i]->n_points)
            return false;
        alike = points[at[i]].size == *size ? alike + 1 : 1;
        *size = points[at[i]].size;
    }
    return true;
}

double case_series_figure(const struct case_series *series, size_t at)
{
    const struct case_point *point = &series->points[at];

    if (series->is_figure)
        return point->value;
    return band_figure(band_of(point->size)) == BAND_BUSBW ? point->busbw_gbs
                                                           : point->time_us;
}
