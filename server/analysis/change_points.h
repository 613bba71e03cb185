/* SPDX-License-Identifier: Apache-2.0 */
/* change_points.h - finds changes of level in a series of runs
 *
 * The series is read night by night, from its beginning or from the last change. A change
 * is reported once the test in level_split.h is certain. All nights share the error level
 * CHANGE_POINTS_LEVEL. The newest night uses half of that level, so that a change in the
 * last night is found at once. Finally, each change is moved to its most likely position
 * between its neighbors. docs/explanation/method.md gives the rate of false alarms and
 * the power. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CHANGE_POINTS_H
#define RINGBENCH_SERVER_ANALYSIS_CHANGE_POINTS_H

#include <stddef.h>

#include "server/analysis/level_split.h"

#define CHANGE_POINTS_LEVELS_MIN (LEVEL_RUNS_MIN + 1)
#define CHANGE_POINTS_LEVEL 0.005 /* error level for a whole series */
#define CHANGE_POINTS_MAX 64 /* maximum number of changes; older changes are dropped */

/* A change. The levels before and after it extend to the neighboring change, or to the
 * end of the series. */
struct change_point {
    struct level_split split;
    double before, after; /* mean levels */
    size_t n_before, n_after;
};

/* Find the changes larger than `margin` in levels[0..n), which are in time order. Levels
 * and margin are logarithms. Fills found[], oldest change first, and *p, the probability
 * of such levels if nothing changed. Returns the number of changes, or 0 for fewer than
 * CHANGE_POINTS_LEVELS_MIN levels. */
int change_points_find(const double *levels, size_t n, double margin,
                       struct change_point found[CHANGE_POINTS_MAX], double *p);

#endif
