/* SPDX-License-Identifier: Apache-2.0 */
/* median.h - the median of values as they come */
#ifndef RINGBENCH_COMMON_BASE_MEDIAN_H
#define RINGBENCH_COMMON_BASE_MEDIAN_H

#include <stddef.h>

/* The values in rising order. All zero: empty. */
struct median {
    double *values;
    size_t n, capacity;
};

void median_release(struct median *median);

void median_add(struct median *median, double value);

/* 0 of no values; of an even number the mean of both in the middle. */
double median_of(const struct median *median);

/* The same of an array in rising order; n >= 1. */
double median_of_sorted(const double *values, size_t n);

#endif
