/* level.h - whether a new run is where runs like it are
 *
 * A run counts once: its level is the median over its cases, in a band of sizes or of one
 * size. Cases of one run share the hour, the placement and the neighbors, so that their
 * scatter says little of the scatter between runs. A new level is compared with the
 * prediction interval of those before it: where one further level falls if nothing
 * changed (Hahn and Meeker, "Statistical Intervals", chapter 3). Levels are logarithms,
 * except for a metric with values of 0 or less. docs/explanation/method.md, "Across
 * runs". */
#ifndef RINGBENCH_SERVER_ANALYSIS_LEVEL_H
#define RINGBENCH_SERVER_ANALYSIS_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

#include "server/analysis/stats.h"

#define LEVEL_CONFIDENCE 0.99 /* for all bands of a question together */
#define LEVEL_RUNS_MIN 5      /* around one mean: fewer say nothing about scatter */

/* Runs that scatter around a mean of their own. */
struct level_group {
    const double *levels; /* NULL if n is 0 */
    size_t n;
};

struct level_scatter {
    double deviation; /* of one level */
    size_t df;        /* degrees of freedom */
};

/* The median of a run's n >= 1 cases; the values are sorted. */
double level_of(double *cases, size_t n);

/* The scatter within groups that have a common deviation and different means. */
struct level_scatter level_scatter(const struct level_group *groups, size_t n);

/* How far head's mean is from base's; both have a level at least. With one level in head
 * and no other scatter than base's, an interval for this effect that includes 0 is a
 * prediction interval around base that includes head. Without scatter the error is NaN.
 */
void level_effect(const struct level_group *base, const struct level_group *head,
                  const struct level_scatter *scatter, struct stats_effect *effect);

/* With how many more runs there is scatter enough for a verdict; 0: there is. */
size_t level_runs_missing(const struct level_scatter *scatter);

/* The confidence for one of n questions that together have LEVEL_CONFIDENCE
 * (Bonferroni's inequality). */
double level_confidence(size_t n);

#endif
