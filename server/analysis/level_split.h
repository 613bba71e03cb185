/* SPDX-License-Identifier: Apache-2.0 */
/* level_split.h - finds the best division of a series of levels into an earlier and a
 * later part, and the certainty of their difference. A level is the logarithm of a run's
 * value. The functions do no I/O.
 *
 * Each split has Student's t for the difference between the means of its parts (Hawkins,
 * Qiu and Kang, "The changepoint model for statistical process control", Journal of
 * Quality Technology 35, 2003). The parts themselves give the scatter, so a few levels
 * are enough. The p values of all splits share one error level. A later part of m levels
 * gets a share proportional to 1/m (weighted Bonferroni), so that a change in the last
 * night is found at once.
 *
 * - Neighboring nights may correlate. The correlation is estimated from differences over
 * two nights and over one night, which neither a step nor a drift disturbs. The estimate
 * starts from LEVEL_CORRELATION. The correlation increases the error of a mean
 * (Bartlett's formula for AR(1)).
 * - A single level far from both of its neighbors counts as LEVEL_OUTLIER deviations from
 * the nearer one. The last level has only one neighbor and is not limited.
 * - Only splits whose means differ by more than the margin count. */
#ifndef RINGBENCH_SERVER_ANALYSIS_LEVEL_SPLIT_H
#define RINGBENCH_SERVER_ANALYSIS_LEVEL_SPLIT_H

#include <stddef.h>

#include "server/analysis/level.h"

/* Smallest relative scatter assumed; no machine is more repeatable than 0.1 % */
#define LEVEL_SCATTER_MIN 0.001
#define LEVEL_OUTLIER 2.0
/* Prior correlation, and its weight as a number of levels. */
#define LEVEL_CORRELATION 0.4
#define LEVEL_CORRELATION_WEIGHT 10.0

struct level_series {
    struct level_sums *sums; /* n + 1 entries, relative to the first level */
    double first;
    size_t n;
};

/* Initialize a series from levels in time order. */
void level_series_init(struct level_series *series, const double *levels, size_t n);
void level_series_release(struct level_series *series);

/* The scatter within parts of a series. Initialize with zeros. */
struct split_scatter {
    double n, parts; /* number of levels; number of parts, each with its own mean */
    double squares;  /* sum of squared deviations from the means */
    /* Sums for differences between nights that are one night apart, and two apart */
    double squares1, n1, squares2, n2;
};

/* Add the scatter of levels [begin, end), begin < end. */
void split_scatter_add(struct split_scatter *scatter, const struct level_series *series,
                       size_t begin, size_t end);

struct level_split_query {
    const struct level_series *series;
    size_t begin, end;            /* the levels to divide */
    size_t before_min, after_min; /* minimum number of levels in each part, at least 1 */
    double margin;                /* logarithm; smaller changes are ignored */
    struct split_scatter scatter; /* scatter of other parts of the series */
};

struct level_split {
    /* index of the later part's first level, at the most likely position of the change */
    size_t at;
    /* range of positions that contains the change with 95 % confidence */
    size_t earliest, latest;
    double change;    /* change of the mean level; a logarithm */
    double low, high; /* 95 % interval of the change */
    double p;         /* p value over all splits; if 1, no other member is set */
};

/* Find the best split with at least before_min levels in the earlier part and after_min
 * in the later part. */
void level_split_find(const struct level_split_query *query, struct level_split *split);

/* Return the mean of levels [begin, end), with outliers limited. */
double level_mean(const struct level_series *series, size_t begin, size_t end);

#endif
