/* change_points.c - where the level of a series of values changed */
#include "server/analysis/change_points.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/median.h"
#include "common/base/order_stat.h"

/* The 99 % quantile of the highest score in series of n independent values: from
 * bench/change_threshold, see docs/method.md. Between the entries it goes with the
 * logarithm of n. */
static const struct {
    double n, threshold;
} thresholds[] = {
    {10, 2.559},  {11, 2.646},   {12, 2.718},   {13, 2.778},   {14, 2.829},  {15, 2.829},
    {16, 2.883},  {18, 3.000},   {20, 3.065},   {22, 3.123},   {25, 3.199},  {28, 3.241},
    {32, 3.319},  {36, 3.375},   {40, 3.416},   {50, 3.502},   {64, 3.644},  {80, 3.704},
    {100, 3.781}, {140, 3.885},  {200, 4.018},  {300, 4.114},  {400, 4.211}, {600, 4.308},
    {800, 4.392}, {1000, 4.446}, {1400, 4.527}, {2000, 4.586},
};

#define N_THRESHOLDS (sizeof(thresholds) / sizeof(thresholds[0]))

double change_points_threshold(size_t n)
{
    size_t i = 1;
    double share;

    while (i < N_THRESHOLDS - 1 && thresholds[i].n < (double)n)
        i++;
    share =
        log((double)n / thresholds[i - 1].n) / log(thresholds[i].n / thresholds[i - 1].n);
    return thresholds[i - 1].threshold +
           share * (thresholds[i].threshold - thresholds[i - 1].threshold);
}

/* ---- The best split of an interval ---- */

struct item {
    double value;
    size_t index;
};

struct split {
    size_t at; /* 0: there is none */
    double score;
    double step; /* between the values on either side */
};

struct search {
    const double *values;
    size_t n;
    double threshold;
    struct item *items; /* scratch, as are */
    double *ranks;
    struct split *splits; /* of the intervals of one length */
    struct change_point *found;
    int n_found;
};

static int by_value(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return (x->value > y->value) - (x->value < y->value);
}

/* Rank the values of an interval from 1, equal ones by the mean of their ranks. Returns
 * the sum of t^3 - t over groups of t equal values, by which the rank sum varies less. */
static double rank_values(struct search *search, size_t begin, size_t n)
{
    struct item *items = search->items;
    double ties = 0.0;
    size_t end;

    for (size_t i = 0; i < n; i++)
        items[i] = (struct item){search->values[begin + i], i};
    qsort(items, n, sizeof(*items), by_value);
    for (size_t first = 0; first < n; first = end) {
        double t;

        for (end = first + 1; end < n && items[end].value == items[first].value;)
            end++;
        t = (double)(end - first);
        ties += t * t * t - t;
        for (size_t i = first; i < end; i++)
            search->ranks[items[i].index] = (double)(first + 1 + end) / 2.0;
    }
    return ties;
}

/* Ranks alone can't place a change between two values of which either may be the first
 * that differs: splits that leave 7 and 8 values apart from each other score alike. */
static bool is_better(const struct split *split, const struct split *best)
{
    double more = split->score - best->score;

    return fabs(more) > 1e-9 ? more > 0 : split->step > best->step;
}

static struct split best_split(struct search *search, size_t begin, size_t n)
{
    double total = (double)n, sum = 0.0;
    double ties = rank_values(search, begin, n);
    double spread = (total + 1.0 - ties / (total * (total - 1.0))) / 12.0;
    struct split best = {0, 0.0, 0.0};

    if (spread <= 0.0)
        return best; /* all are equal */
    for (size_t at = 1; at + CHANGE_POINTS_SIDE_MIN <= n; at++) {
        const double *value = &search->values[begin + at];
        struct split split = {.at = begin + at, .step = fabs(value[0] - value[-1])};
        double left = (double)at;

        sum += search->ranks[at - 1];
        split.score =
            fabs(sum - left * (total + 1.0) / 2.0) / sqrt(left * (total - left) * spread);
        if (at >= CHANGE_POINTS_SIDE_MIN && is_better(&split, &best))
            best = split;
    }
    return best;
}

/* ---- The intervals, narrow ones first ---- */

/* Whether a change was found in the interval. */
static bool is_explained(const struct search *search, size_t begin, size_t end)
{
    for (int i = 0; i < search->n_found; i++)
        if (search->found[i].at > begin && search->found[i].at < end)
            return true;
    return false;
}

/* How many intervals of a length there are, and where one begins. */
static size_t intervals(const struct search *search, size_t length)
{
    return 2 * ((search->n + length - 1) / length) - 1;
}

static size_t interval_begin(const struct search *search, size_t length, size_t i)
{
    size_t count = intervals(search, length);

    return count > 1 ? (search->n - length) * i / (count - 1) : 0;
}

/* The best split of all intervals of a length that hold no change yet. */
static struct split best_unexplained(const struct search *search, size_t length)
{
    struct split best = {0, 0.0, 0.0};

    for (size_t i = 0; i < intervals(search, length); i++) {
        size_t begin = interval_begin(search, length, i);

        if (search->splits[i].score > best.score &&
            !is_explained(search, begin, begin + length))
            best = search->splits[i];
    }
    return best;
}

static void split_all(struct search *search, size_t length)
{
    for (size_t i = 0; i < intervals(search, length); i++) {
        size_t begin = interval_begin(search, length, i);

        search->splits[i] = best_split(search, begin, length);
    }
}

static void search_length(struct search *search, size_t length)
{
    struct split best;

    split_all(search, length);
    for (best = best_unexplained(search, length);
         best.score > search->threshold && search->n_found < CHANGE_POINTS_MAX;
         best = best_unexplained(search, length))
        search->found[search->n_found++].at = best.at;
}

/* No split of n values, however clear, has a score above the root of n - 1. */
static bool can_tell(const struct search *search, size_t n)
{
    return n >= 2 * CHANGE_POINTS_SIDE_MIN && sqrt((double)n - 1.0) > search->threshold;
}

/* Length i of the intervals: each is the one before by the root of 2, rounded up. */
static size_t length_of(size_t n, unsigned i)
{
    return (size_t)ceil((double)n * pow(0.5, (double)i / 2.0));
}

static void search_all(struct search *search)
{
    unsigned i = 0;

    while (can_tell(search, length_of(search->n, i + 1)))
        i++;
    for (; i > 0; i--)
        search_length(search, length_of(search->n, i));
    search_length(search, search->n);
}

/* ---- What is said of a change ---- */

static int by_place(const void *a, const void *b)
{
    const struct change_point *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static double median_between(const struct search *search, size_t begin, size_t end)
{
    size_t n = end - begin;

    memcpy(search->ranks, search->values + begin, n * sizeof(*search->ranks));
    order_stat_sort(search->ranks, n);
    return median_of_sorted(search->ranks, n);
}

/* Put each change at the best split between its neighbours, and say what is on either
 * side. */
static void settle(struct search *search)
{
    struct change_point *found = search->found;
    int n = search->n_found;

    qsort(found, (size_t)n, sizeof(*found), by_place);
    for (int i = 0; i < n; i++) {
        size_t begin = i > 0 ? found[i - 1].at : 0;
        size_t end = i + 1 < n ? found[i + 1].at : search->n;
        struct split best = best_split(search, begin, end - begin);

        if (best.at > 0)
            found[i].at = best.at;
        found[i].score = best.score;
    }
    for (int i = 0; i < n; i++) {
        size_t begin = i > 0 ? found[i - 1].at : 0;
        size_t end = i + 1 < n ? found[i + 1].at : search->n;

        found[i].n_before = found[i].at - begin;
        found[i].n_after = end - found[i].at;
        found[i].before = median_between(search, begin, found[i].at);
        found[i].after = median_between(search, found[i].at, end);
    }
}

static int search_init(struct search *search, const double *values, size_t n)
{
    *search = (struct search){.values = values, .n = n};
    assert(n <= CHANGE_POINTS_VALUES_MAX);
    search->items = calloc(n + 1, sizeof(*search->items));
    search->ranks = calloc(n + 1, sizeof(*search->ranks));
    search->splits = calloc(2 * n + 1, sizeof(*search->splits));
    return search->items && search->ranks && search->splits ? 0 : -1;
}

static void search_release(struct search *search)
{
    free(search->splits);
    free(search->ranks);
    free(search->items);
}

int change_points_find(const double *values, size_t n,
                       struct change_point found[CHANGE_POINTS_MAX])
{
    struct search search;
    int result = -1;

    if (n < CHANGE_POINTS_VALUES_MIN)
        return 0;
    if (!search_init(&search, values, n)) {
        search.threshold = change_points_threshold(n);
        search.found = found;
        search_all(&search);
        settle(&search);
        result = search.n_found;
    }
    search_release(&search);
    return result;
}

double change_points_score(const double *values, size_t n)
{
    struct search search;
    double score = -1.0;

    if (!search_init(&search, values, n)) {
        score = 0.0;
        for (unsigned i = 0; length_of(n, i) >= 2 * CHANGE_POINTS_SIDE_MIN; i++) {
            split_all(&search, length_of(n, i));
            score = fmax(score, best_unexplained(&search, length_of(n, i)).score);
        }
    }
    search_release(&search);
    return score;
}
