/* change_points.h - where the level of a series of runs changed, if it did.
 *
 * The series is read night by night, from its beginning or from the last change: a change
 * is found as soon as level_split.h is sure of it. All nights share CHANGE_POINTS_LEVEL,
 * and the newest has half of it, so that a change of last night is found at once. Then
 * each change is put at its likeliest place between its neighbors.
 * docs/explanation/method.md has the false alarms and the power. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CHANGE_POINTS_H
#define RINGBENCH_SERVER_ANALYSIS_CHANGE_POINTS_H

#include <stddef.h>

#include "server/analysis/level_split.h"

#define CHANGE_POINTS_LEVELS_MIN (LEVEL_RUNS_MIN + 1)
#define CHANGE_POINTS_LEVEL 0.005 /* of error, for a whole series */
#define CHANGE_POINTS_MAX 64      /* found at most: the newest */

/* The levels before and after go from one change, or end, to the next. */
struct change_point {
    struct level_split split;
    double before, after; /* mean levels */
    size_t n_before, n_after;
};

/* Find the changes by more than the margin (a logarithm) in levels[0..n), logarithms in
 * the order of time. Fills found[], oldest first, and *p, of no change in the whole
 * series. Returns their number, 0 for fewer than CHANGE_POINTS_LEVELS_MIN levels. */
int change_points_find(const double *levels, size_t n, double margin,
                       struct change_point found[CHANGE_POINTS_MAX], double *p);

#endif
