/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.h - counts durations by upper bound, as a Prometheus histogram does */
#ifndef RINGBENCH_COMMON_BASE_HISTOGRAM_H
#define RINGBENCH_COMMON_BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS 8

/* Upper bounds of the buckets in seconds, ascending. histogram_quick suits operations
 * that take milliseconds, and histogram_slow suits waits that users notice. */
typedef const double histogram_bounds[HISTOGRAM_BOUNDS];
static histogram_bounds histogram_quick = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 10};
static histogram_bounds histogram_slow = {1, 10, 60, 300, 1800, 7200, 28800, 86400};

/* A histogram; all zero: empty. */
struct histogram {
    uint64_t counts[HISTOGRAM_BOUNDS + 1]; /* one count for each bucket; the last bucket
                                              is above all bounds */
    double sum_s;
};

static inline void histogram_add(struct histogram *histogram, histogram_bounds bounds,
                                 double seconds)
{
    size_t i = 0;

    while (i < HISTOGRAM_BOUNDS && seconds > bounds[i])
        i++;
    histogram->counts[i]++;
    histogram->sum_s += seconds;
}

#endif
