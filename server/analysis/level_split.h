/* level_split.h - where a series of levels is best divided into an earlier and a later
 * part, and how surely the two differ. A level is the logarithm of a run's value. Pure.
 *
 * Every split has Student's t for the difference between the means of its parts
 * (Hawkins, Qiu and Kang, "The changepoint model for statistical process control",
 * Journal of Quality Technology 35, 2003). The parts themselves give the scatter, so a
 * few levels are enough. The p values of all splits share one level of error: a later
 * part of m levels gets a share that is proportional to 1/m (Bonferroni with weights), so
 * that a change of last night is found last night.
 *
 * - Neighboring nights may correlate. The correlation comes from the differences over two
 *   nights and over one, which neither a step nor a drift disturbs, and starts from
 *   LEVEL_CORRELATION; the error of a mean grows by it (Bartlett's formula for AR(1)).
 * - A single level far from both of its neighbors counts as one that is
 *   LEVEL_OUTLIER deviations from the nearer. The last level has one neighbor and counts
 *   as it is.
 * - Only splits whose means differ by more than the margin count. */
#ifndef RINGBENCH_SERVER_ANALYSIS_LEVEL_SPLIT_H
#define RINGBENCH_SERVER_ANALYSIS_LEVEL_SPLIT_H

#include <stddef.h>

#include "server/analysis/level.h"

#define LEVEL_SCATTER_MIN 0.001 /* no machine repeats itself to better than 0.1 % */
#define LEVEL_OUTLIER 2.0
#define LEVEL_CORRELATION 0.4 /* assumed, with the weight of so many levels: */
#define LEVEL_CORRELATION_WEIGHT 10.0

struct level_series {
    struct level_sums *sums; /* n + 1, relative to the first level */
    double first;
    size_t n;
};

/* The levels in the order of time. */
void level_series_init(struct level_series *series, const double *levels, size_t n);
void level_series_release(struct level_series *series);

/* The scatter within parts of a series; zero for none. */
struct split_scatter {
    double n, parts;                   /* levels, and means that were taken of them */
    double squares;                    /* sum of squared deviations from the means */
    double squares1, n1, squares2, n2; /* of differences over one night and over two */
};

/* Add the scatter of levels [begin, end), begin < end. */
void split_scatter_add(struct split_scatter *scatter, const struct level_series *series,
                       size_t begin, size_t end);

struct level_split_query {
    const struct level_series *series;
    size_t begin, end;            /* the levels to divide */
    size_t before_min, after_min; /* levels in each part, at least 1 */
    double margin;                /* smaller changes count as none; a logarithm */
    struct split_scatter scatter; /* of other parts of the series */
};

struct level_split {
    size_t at;               /* the first level of the later part: the likeliest */
    size_t earliest, latest; /* the change came at one of these, with 95 % */
    double change;           /* of the mean level; a logarithm */
    double low, high;        /* its 95 % interval */
    double p;                /* of no change, over all splits; at 1 nothing else is set */
};

/* The earlier part has at least before_min levels, the later one after_min. */
void level_split_find(const struct level_split_query *query, struct level_split *split);

/* The mean of levels [begin, end), without outliers. */
double level_mean(const struct level_series *series, size_t begin, size_t end);

#endif
