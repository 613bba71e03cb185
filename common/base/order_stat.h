/* SPDX-License-Identifier: Apache-2.0 */
/* order_stat.h - what sorted values say of where they come from, whatever the shape of
 * their distribution. Pure; quantiles are of the nearest rank, medians of an even number
 * the mean of both in the middle (median.h). */
#ifndef RINGBENCH_COMMON_ORDER_STAT_H
#define RINGBENCH_COMMON_ORDER_STAT_H

#include <stdbool.h>
#include <stddef.h>

/* Into rising order; none may be NaN. */
void order_stat_sort(double *values, size_t n);

/* The value that a share (0 to 1) of the n >= 1 values in rising order does not exceed:
 * the nearest rank. */
double order_stat_quantile(const double *sorted, size_t n, double share);

/* The greatest k for which the k-th least and the k-th greatest of n independent values
 * enclose the median of their distribution with at least `level` (0 to 1): each value is
 * above it or below like a coin, so both tails are the binomial distribution's (David and
 * Nagaraja, Order Statistics, section 7.1). 0: n is too small for that. O(n). */
size_t order_stat_rank(size_t n, double level);

/* How surely they do: 1 - 2 P(fewer than k of n coins fall heads). 1 <= k <= n / 2. */
double order_stat_coverage(size_t n, size_t k);

/* That interval of n values in rising order; false, and nothing set: too few. */
bool order_stat_interval(const double *sorted, size_t n, double level, double *low,
                         double *high);

#endif
