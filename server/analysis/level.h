/* SPDX-License-Identifier: Apache-2.0 */
/* level.h - decides if a new run is at the level of similar runs
 *
 * Each run counts once: its level is the median over its cases, for a band or a single
 * size. Cases of one run share the hour, the placement and the neighbors, so their
 * scatter says little about the scatter between runs. A new level is compared with the
 * prediction interval of earlier levels: the range of one more level if nothing changed
 * (Hahn and Meeker, "Statistical Intervals", chapter 3). Levels are logarithms, except
 * for a metric with values of 0 or less. See docs/explanation/method.md, "Across
 * runs". */
#ifndef RINGBENCH_SERVER_ANALYSIS_LEVEL_H
#define RINGBENCH_SERVER_ANALYSIS_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

#include "server/analysis/stats.h"

/* joint confidence for all bands that are compared together */
#define LEVEL_CONFIDENCE 0.99
/* Minimum number of runs with a common mean; fewer do not show the scatter */
#define LEVEL_RUNS_MIN 5

/* Runs that scatter around their own mean. */
struct level_group {
    const double *levels; /* NULL if n is 0 */
    size_t n;
};

struct level_scatter {
    double deviation; /* standard deviation of one level */
    size_t df;        /* degrees of freedom */
};

/* Return the median of a run's n >= 1 cases. Sorts the values. */
double level_of(double *cases, size_t n);

/* Return the scatter within groups. All groups have the same deviation, but each has its
 * own mean. */
struct level_scatter level_scatter(const struct level_group *groups, size_t n);

/* Compute the difference between head's and base's means. Both need at least one level.
 * If head has one level and only base gives the scatter, the result equals a prediction
 * interval: it includes 0 exactly if base's prediction interval includes head. Without
 * scatter, the error is NaN. */
void level_effect(const struct level_group *base, const struct level_group *head,
                  const struct level_scatter *scatter, struct stats_effect *effect);

/* Return the number of additional runs that are needed to estimate the scatter, or 0. */
size_t level_runs_missing(const struct level_scatter *scatter);

/* Return the confidence for one of n bands. All n together have LEVEL_CONFIDENCE
 * (Bonferroni's inequality). */
double level_confidence(size_t n);

#endif
