/* SPDX-License-Identifier: Apache-2.0 */
/* change_points.h - level changes in a series of runs
 *
 * The series is read night by night, from its beginning or from the last change. A change
 * is reported once level_split.h is certain. All nights share the error level
 * CHANGE_POINTS_LEVEL; the newest night has half of it, so that a change last night is
 * found at once. Afterwards each change moves to its likeliest place between its
 * neighbors. docs/explanation/method.md has the false alarms and the power. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CHANGE_POINTS_H
#define RINGBENCH_SERVER_ANALYSIS_CHANGE_POINTS_H

#include <stddef.h>

#include "server/analysis/level_split.h"

#define CHANGE_POINTS_LEVELS_MIN (LEVEL_RUNS_MIN + 1)
#define CHANGE_POINTS_LEVEL 0.005 /* error level for a whole series */
#define CHANGE_POINTS_MAX 64      /* only the newest are reported */

/* A change. The levels before and after it extend to the neighboring changes or ends. */
struct change_point {
    struct level_split split;
    double before, after; /* mean levels */
    size_t n_before, n_after;
};

/* Find the changes larger than margin (a logarithm) in levels[0..n), which are logarithms
 * in time order. Fills found[], oldest first, and *p for "no change in the whole series".
 * Returns the number of changes, 0 for fewer than CHANGE_POINTS_LEVELS_MIN levels. */
int change_points_find(const double *levels, size_t n, double margin,
                       struct change_point found[CHANGE_POINTS_MAX], double *p);

#endif
