/* SPDX-License-Identifier: Apache-2.0 */
/* change_points.c - finds changes of level in a series of runs */
#include "server/analysis/change_points.h"

#include <math.h>
#include <string.h>

/* Minimum number of levels between two changes. Two suffice, because the levels before
 * the first change already show the scatter. */
#define BETWEEN_MIN 2

struct search {
    struct level_series series;
    size_t begin; /* first level of the oldest segment kept */
    double margin;
    struct change_point *found;
    int n_found;
    double p;
};

static size_t begin_of(const struct search *search, int i)
{
    return i > 0 ? search->found[i - 1].split.at : search->begin;
}

static size_t end_of(const struct search *search, int i)
{
    return i + 1 < search->n_found ? search->found[i + 1].split.at : search->series.n;
}

/* Return the factor that corrects p for a search on every night. The newest night uses
 * half of the error level; the older nights share the other half. */
static double looks(const struct search *search, size_t end)
{
    size_t older = search->series.n - CHANGE_POINTS_LEVELS_MIN;

    return end == search->series.n ? 2.0 : 2.0 * (double)older;
}

/* Search for change i in levels [begin, end). All levels before that change determine the
 * scatter. */
static struct level_split look(const struct search *search, int i, size_t begin,
                               size_t end)
{
    struct level_split_query query = {
        .series = &search->series,
        .begin = begin,
        .end = end,
        .before_min = begin > 0 ? BETWEEN_MIN : LEVEL_RUNS_MIN,
        .after_min = 1,
        .margin = search->margin,
    };
    struct level_split split;

    for (int k = 0; k < i; k++)
        split_scatter_add(&query.scatter, &search->series, begin_of(search, k),
                          search->found[k].split.at);
    level_split_find(&query, &split);
    split.p = fmin(1.0, split.p * looks(search, end));
    return split;
}

static void forget_oldest(struct search *search)
{
    search->begin = search->found[0].split.at;
    search->n_found--;
    memmove(search->found, search->found + 1,
            (size_t)search->n_found * sizeof(*search->found));
}

static void search_all(struct search *search)
{
    for (size_t end = CHANGE_POINTS_LEVELS_MIN; end <= search->series.n; end++) {
        int i = search->n_found;
        struct level_split split = look(search, i, begin_of(search, i), end);

        search->p = fmin(search->p, split.p);
        if (split.p > CHANGE_POINTS_LEVEL)
            continue;
        if (search->n_found == CHANGE_POINTS_MAX)
            forget_oldest(search);
        search->found[search->n_found++].split = split;
    }
}

/* Move each change to its most likely position between its neighbors, and drop changes
 * that later levels refute. */
static void settle(struct search *search)
{
    struct change_point *found = search->found;

    for (int i = 0; i < search->n_found;) {
        struct level_split split =
            look(search, i, begin_of(search, i), end_of(search, i));

        if (split.p > CHANGE_POINTS_LEVEL) {
            search->n_found--;
            memmove(found + i, found + i + 1,
                    (size_t)(search->n_found - i) * sizeof(*found));
            i = i > 0 ? i - 1 : 0;
            continue;
        }
        found[i++].split = split;
        search->p = fmin(search->p, split.p);
    }
}

static void describe(struct search *search)
{
    for (int i = 0; i < search->n_found; i++) {
        struct change_point *point = &search->found[i];
        size_t begin = begin_of(search, i), end = end_of(search, i), at = point->split.at;

        point->n_before = at - begin;
        point->n_after = end - at;
        point->before = level_mean(&search->series, begin, at);
        point->after = level_mean(&search->series, at, end);
    }
}

int change_points_find(const double *levels, size_t n, double margin,
                       struct change_point found[CHANGE_POINTS_MAX], double *p)
{
    struct search search = {.margin = margin, .found = found, .p = 1.0};

    level_series_init(&search.series, levels, n);
    search_all(&search);
    settle(&search);
    describe(&search);
    level_series_release(&search.series);
    *p = search.p;
    return search.n_found;
}
