/* change_points.h - where the level of a series of values changed, if it did.
 *
 * Every split of an interval has a score: how far the rank sum of one side is from what
 * it would be on average if order meant nothing, in standard deviations (Mann and
 * Whitney; as a change point model: Hawkins and Deng, "A Nonparametric Change-Point
 * Control Chart", Journal of Quality Technology 42, 2010). Ranks alone count, so neither
 * outliers nor the shape of the noise decide. The intervals are seeded (Kovacs, Li,
 * Buehlmann and Munk, "Seeded binary segmentation", Biometrika 110, 2023): lengths n,
 * n/sqrt(2), n/2 ..., each overlapping the next by about half. Of those with a split
 * above the threshold the narrowest counts (Baranowski, Chen and Fryzlewicz, JRSS B 81,
 * 2019), so that a change that was taken back is found as two.
 *
 * The threshold depends on n alone: without a change, 1 in 100 series has a score above
 * it anywhere, whatever the noise, as long as values don't depend on those before. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CHANGE_POINTS_H
#define RINGBENCH_SERVER_ANALYSIS_CHANGE_POINTS_H

#include <stddef.h>

#define CHANGE_POINTS_VALUES_MIN 10 /* in fewer no change is certain enough */
#define CHANGE_POINTS_SIDE_MIN 3    /* values on either side of a change */
#define CHANGE_POINTS_VALUES_MAX 2000
#define CHANGE_POINTS_MAX 64 /* found at most */

/* The values before and after go from one change, or end, to the next. */
struct change_point {
    size_t at;            /* index of the first value of the new level */
    double score;         /* of the split between those values */
    double before, after; /* medians of those values */
    size_t n_before, n_after;
};

/* Find the changes in values[0..n), in the order of time; n is at most
 * CHANGE_POINTS_VALUES_MAX. Fills found[] by rising `at` and returns their number: 0
 * also of fewer than CHANGE_POINTS_VALUES_MIN values. -1 when memory is out. */
int change_points_find(const double *values, size_t n,
                       struct change_point found[CHANGE_POINTS_MAX]);

/* The highest score in any of the intervals of a series; of fewer than two sides 0. For
 * the table of thresholds. -1 when memory is out. */
double change_points_score(const double *values, size_t n);

/* What a score must exceed in a series of n values. */
double change_points_threshold(size_t n);

#endif
