/* SPDX-License-Identifier: Apache-2.0 */
/* level_split.c - finds the best division of a series of levels into two parts */
#include "server/analysis/level_split.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/median.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"
#include "server/analysis/stats.h"

/* Median of |x - y| for two values from a normal distribution with deviation 1. */
#define MEDIAN_DIFFERENCE 0.9539

/* A split with a smaller t is not significant, so its p is not computed. */
#define T_MIN 2.5
#define CORRELATION_MAX 0.9

/* By Ville's inequality, the likelihood at a wrong position exceeds the likelihood at the
 * true position by this factor with a probability of at most 1 / LIKELIHOOD_RATIO. Wrong
 * positions can be earlier or later, so a ratio of 40 gives 95 % confidence. */
#define LIKELIHOOD_RATIO 40.0

/* Level i relative to the first level, and sums over the i levels before level i. */
struct level_sums {
    double level; /* relative level, with outliers limited */
    double sum, squares, squares1, squares2;
};

/* ---- The series ---- */

static double typical_scatter(const double *levels, size_t n, double *scratch)
{
    for (size_t i = 1; i < n; i++)
        scratch[i - 1] = fabs(levels[i] - levels[i - 1]);
    order_stat_sort(scratch, n - 1);
    return fmax(median_of_sorted(scratch, n - 1) / MEDIAN_DIFFERENCE, LEVEL_SCATTER_MIN);
}

static double without_outlier(const double *levels, size_t n, size_t i, double scatter)
{
    double room = LEVEL_OUTLIER * scatter, low, high;

    if (i == 0 || i + 1 == n)
        return levels[i];
    low = fmin(levels[i - 1], levels[i + 1]) - room;
    high = fmax(levels[i - 1], levels[i + 1]) + room;
    return fmin(fmax(levels[i], low), high);
}

void level_series_init(struct level_series *series, const double *levels, size_t n)
{
    double *scratch = memory_zeroed(n + 1, sizeof(*scratch), "levels");
    struct level_sums *sums = memory_zeroed(n + 1, sizeof(*sums), "levels");
    double scatter = n > 1 ? typical_scatter(levels, n, scratch) : 0.0;

    free(scratch);
    *series = (struct level_series){sums, n > 0 ? levels[0] : 0.0, n};
    for (size_t i = 0; i < n; i++) {
        double level = without_outlier(levels, n, i, scatter) - levels[0];
        double step1 = i > 0 ? level - sums[i - 1].level : 0.0;
        double step2 = i > 1 ? level - sums[i - 2].level : 0.0;

        sums[i].level = level;
        sums[i + 1].sum = sums[i].sum + level;
        sums[i + 1].squares = sums[i].squares + level * level;
        sums[i + 1].squares1 = sums[i].squares1 + step1 * step1;
        sums[i + 1].squares2 = sums[i].squares2 + step2 * step2;
    }
}

void level_series_release(struct level_series *series)
{
    free(series->sums);
    *series = (struct level_series){0};
}

/* ---- Scatter and correlation ---- */

static double relative_mean(const struct level_series *series, size_t begin, size_t end)
{
    return (series->sums[end].sum - series->sums[begin].sum) / (double)(end - begin);
}

/* Add the scatter. Differences between nights are taken relative to their mean, so that a
 * drift does not contribute. n1 and n2 are the expected sums of squares for independent
 * levels, in units of twice a level's variance. */
void split_scatter_add(struct split_scatter *scatter, const struct level_series *series,
                       size_t begin, size_t end)
{
    const struct level_sums *sums = series->sums;
    double n = (double)(end - begin), mean = relative_mean(series, begin, end);
    double squares = sums[end].squares - sums[begin].squares - n * mean * mean;

    scatter->n += n;
    scatter->parts += 1.0;
    scatter->squares += fmax(squares, 0.0);
    if (end - begin >= 2) {
        double total = sums[end - 1].level - sums[begin].level;

        scatter->squares1 +=
            sums[end].squares1 - sums[begin + 1].squares1 - total * total / (n - 1.0);
        scatter->n1 += n - 1.0 - 1.0 / (n - 1.0);
    }
    if (end - begin >= 4) {
        double total = sums[end - 1].level + sums[end - 2].level - sums[begin].level -
                       sums[begin + 1].level;

        scatter->squares2 +=
            sums[end].squares2 - sums[begin + 2].squares2 - total * total / (n - 2.0);
        scatter->n2 += n - 2.0 - 2.0 / (n - 2.0);
    }
}

/* Estimate the correlation r of neighboring nights. Differences over one night have the
 * variance 2 s^2 (1 - r), and differences over two nights 2 s^2 (1 - r^2). The ratio of
 * these variances is 1 + r. */
static double correlation_of(const struct split_scatter *scatter)
{
    double seen = 0.0;

    if (scatter->n2 > 0.0 && scatter->squares1 > 0.0)
        seen = scatter->squares2 / scatter->n2 / (scatter->squares1 / scatter->n1) - 1.0;
    seen = (scatter->n * seen + LEVEL_CORRELATION_WEIGHT * LEVEL_CORRELATION) /
           (scatter->n + LEVEL_CORRELATION_WEIGHT);
    return fmin(fmax(seen, 0.0), CORRELATION_MAX);
}

/* Return the variance of the mean of n levels, in units of one level's variance. */
static double variance_of_mean(double n, double correlation)
{
    double r = correlation;

    return (1.0 + 2.0 * r / (1.0 - r) * (1.0 - (1.0 - pow(r, n)) / (n * (1.0 - r)))) / n;
}

/* ---- A split ---- */

struct trial {
    double change, error, df, correlation;
    /* Sum of squares within the parts; a smaller sum makes the split more likely */
    double squares;
};

static double change_at(const struct level_split_query *query, size_t at)
{
    return relative_mean(query->series, at, query->end) -
           relative_mean(query->series, query->begin, at);
}

static bool is_beyond(const struct level_split_query *query, size_t at)
{
    return fabs(change_at(query, at)) > query->margin;
}

static struct trial try_split(const struct level_split_query *query, size_t at)
{
    struct split_scatter scatter = query->scatter;
    double before = (double)(at - query->begin), after = (double)(query->end - at);
    struct trial trial;
    double of_before, of_after, variance, lost;

    split_scatter_add(&scatter, query->series, query->begin, at);
    split_scatter_add(&scatter, query->series, at, query->end);
    trial.change = change_at(query, at);
    trial.df = scatter.n - scatter.parts;
    trial.correlation = correlation_of(&scatter);
    trial.squares =
        fmax(scatter.squares, trial.df * LEVEL_SCATTER_MIN * LEVEL_SCATTER_MIN);
    of_before = variance_of_mean(before, trial.correlation);
    of_after = variance_of_mean(after, trial.correlation);
    /* The means of correlated levels absorb more of the scatter than those of independent
     * levels. */
    lost = before * of_before + after * of_after + query->scatter.parts;
    variance = trial.squares / fmax(scatter.n - lost, 1.0);
    trial.error = sqrt(variance * (of_before + of_after));
    return trial;
}

static double share_sum(size_t from, size_t to)
{
    double sum = 0.0;

    for (size_t m = from; m <= to; m++)
        sum += 1.0 / (double)m;
    return sum;
}

/* Find the most likely position of the change among the splits that exceed the margin. */
static void place(const struct level_split_query *query, struct level_split *split)
{
    struct trial best = {.squares = (double)INFINITY};
    size_t first = query->begin + query->before_min, last = query->end - query->after_min;
    double independent, half;

    for (size_t at = first; at <= last; at++) {
        struct trial trial = try_split(query, at);

        if (is_beyond(query, at) && trial.squares < best.squares) {
            best = trial;
            split->at = at;
        }
    }
    independent = (1.0 - best.correlation) / (1.0 + best.correlation);
    split->earliest = split->latest = split->at;
    for (size_t at = first; at <= last; at++) {
        double times = try_split(query, at).squares / best.squares;

        if (0.5 * best.df * log(times) * independent > log(LIKELIHOOD_RATIO))
            continue;
        if (at < split->earliest)
            split->earliest = at;
        if (at > split->latest)
            split->latest = at;
    }
    half = stats_t_quantile(0.975, best.df) * best.error;
    split->change = best.change;
    split->low = best.change - half;
    split->high = best.change + half;
}

void level_split_find(const struct level_split_query *query, struct level_split *split)
{
    size_t first = query->begin + query->before_min;
    double shares;

    *split = (struct level_split){.p = 1.0};
    if (query->end < first + query->after_min)
        return;
    shares = share_sum(query->after_min, query->end - first);
    for (size_t at = first; at + query->after_min <= query->end; at++) {
        double after = (double)(query->end - at), t;
        struct trial trial;

        if (!is_beyond(query, at))
            continue;
        trial = try_split(query, at);
        t = fabs(trial.change) / trial.error;
        if (t > T_MIN)
            split->p = fmin(split->p, 2.0 * stats_t_cdf(-t, trial.df) * after * shares);
    }
    if (split->p < 1.0)
        place(query, split);
}

double level_mean(const struct level_series *series, size_t begin, size_t end)
{
    return series->first + relative_mean(series, begin, end);
}
