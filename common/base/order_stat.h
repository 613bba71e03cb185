/* SPDX-License-Identifier: Apache-2.0 */
/* order_stat.h - computes distribution-free statistics of sorted values. Pure functions.
 * Quantiles use the nearest rank; the median of an even number of values is the mean of
 * the middle two (median.h). */
#ifndef RINGBENCH_COMMON_ORDER_STAT_H
#define RINGBENCH_COMMON_ORDER_STAT_H

#include <stdbool.h>
#include <stddef.h>

/* Sort in ascending order; no value may be NaN. */
void order_stat_sort(double *values, size_t n);

/* Return the nearest-rank quantile: the least value that at least a fraction `share` (0
 * to 1) of the values does not exceed. The n >= 1 values are in ascending order. */
double order_stat_quantile(const double *sorted, size_t n, double share);

/* Return the greatest k for which the k-th least and k-th greatest of n independent
 * values enclose the distribution's median with probability `level` (0 to 1) or more.
 * Each value is above or below the median like a coin flip, so both tails are binomial
 * (David and Nagaraja, Order Statistics, section 7.1). Return 0 if n is too small. The
 * time is O(n). */
size_t order_stat_rank(size_t n, double level);

/* Return the coverage of the interval between the k-th least and k-th greatest value: 1 -
 * 2 P(fewer than k of n coins fall heads). 1 <= k <= n / 2. */
double order_stat_coverage(size_t n, size_t k);

/* Set *low and *high to the interval of order_stat_rank() for n ascending values. Return
 * false and set nothing if n is too small. */
bool order_stat_interval(const double *sorted, size_t n, double level, double *low,
                         double *high);

#endif
