/* SPDX-License-Identifier: Apache-2.0 */
/* median.h - computes the median of a stream of values */
#ifndef RINGBENCH_COMMON_BASE_MEDIAN_H
#define RINGBENCH_COMMON_BASE_MEDIAN_H

#include <stddef.h>

/* The values in ascending order. All zero: empty. */
struct median {
    double *values;
    size_t n, capacity;
};

void median_release(struct median *median);

void median_add(struct median *median, double value);

/* Return the median. The median of an even number of values is the mean of the middle
 * two; an empty stream has the median 0. */
double median_of(const struct median *median);

/* Return the median of an array in ascending order; n >= 1. */
double median_of_sorted(const double *values, size_t n);

#endif
