/* median.h - the median of values as they come, whatever their number: two heaps, the
 * lower and the upper half */
#ifndef RINGBENCH_COMMON_BASE_MEDIAN_H
#define RINGBENCH_COMMON_BASE_MEDIAN_H

#include <stddef.h>

struct median_heap {
    double *items;
    size_t n, capacity;
};

/* All zero: empty. */
struct median {
    struct median_heap low, high; /* the greatest of low, the least of high on top */
};

void median_release(struct median *median);

/* -1 when memory is out; then the value is left out. O(log n). */
int median_add(struct median *median, double value);

/* 0 of no values; of an even number the mean of both in the middle. */
double median_of(const struct median *median);
size_t median_count(const struct median *median);

/* The same of an array in rising order; n >= 1. */
double median_of_sorted(const double *values, size_t n);

#endif
