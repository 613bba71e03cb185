/* SPDX-License-Identifier: Apache-2.0 */
/* summary_build.c - builds series from points, thinned for charts */
#include "server/summary/result_record.h"
#include "server/summary/summary_build.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "server/summary/thin.h"

#define WHAT "a summary" /* names the allocation in out-of-memory errors */

static bool is_same_series(const struct summary_line *a, const struct summary_line *b)
{
    return a->combination == b->combination && a->case_no == b->case_no &&
           a->cycle == b->cycle && a->key == b->key;
}

/* Return how many lines, counted from the first, belong to the first line's series. */
static size_t series_length(const struct summary_line *lines, size_t n)
{
    size_t length = 1;

    while (length < n && is_same_series(&lines[0], &lines[length]))
        length++;
    return length;
}

static void add_sums(struct summary_series *series, const struct summary_point *point)
{
    series->rows += point->rows;
    series->skipped += point->skipped;
    if (point->wrong >= 0)
        series->wrong =
            result_record_add_wrong(series->wrong < 0 ? 0 : series->wrong, point->wrong);
}

/* Build a series from n lines, thinned to `most` points. */
static void make_series(struct summary_series *series, const struct summary_line *lines,
                        size_t n, size_t most)
{
    double *values = memory_zeroed(n, sizeof(*values), WHAT);
    double *alarms = memory_zeroed(n, sizeof(*alarms), WHAT);
    size_t *kept = memory_zeroed(most > n ? most : n, sizeof(*kept), WHAT);

    series->combination = lines->combination;
    series->case_no = lines->case_no;
    series->cycle = lines->cycle;
    series->points_total = n;
    series->wrong = -1;
    for (size_t i = 0; i < n; i++) {
        values[i] = lines[i].point.busbw_gbs;
        alarms[i] = (double)lines[i].point.wrong;
        add_sums(series, &lines[i].point);
    }
    series->n_points = thin_choose(values, alarms, n, most, kept);
    series->points = memory_zeroed(series->n_points, sizeof(*series->points), WHAT);
    for (size_t i = 0; i < series->n_points; i++) {
        struct summary_point *point = &series->points[i];

        *point = lines[kept[i]].point;
        for (uint32_t k = 0; k < point->n_choices; k++)
            json_incref(point->choices[k].how);
    }
    free(values);
    free(alarms);
    free(kept);
}

size_t summary_lines_shown(size_t n, size_t total, size_t budget)
{
    if (total <= budget || n <= budget / THIN_LEAST)
        return n;
    return budget / THIN_LEAST;
}

void summary_add_series(struct summary *summary, const struct summary_line *lines,
                        size_t n, json_t *const *texts, size_t budget)
{
    size_t most, length;

    for (size_t i = 0; i < n; i += series_length(lines + i, n - i))
        summary->series_total++;
    summary->points_total = n;
    most = summary_lines_shown(summary->series_total, n, budget);
    summary->series = memory_zeroed(most + 1, sizeof(*summary->series), WHAT);
    for (size_t i = 0; i < n && summary->n_series < most; i += length) {
        struct summary_series *series = &summary->series[summary->n_series++];

        length = series_length(lines + i, n - i);
        make_series(series, lines + i, length, thin_share(length, n, most, budget));
        series->key = json_incref(texts[lines[i].key]);
        summary->points += series->n_points;
    }
}
