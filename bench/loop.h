/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - gives bench_host and bench_mpi the same sizes, iterations, rotating offsets
 * (as in nccl-tests) and output */
#ifndef RINGBENCH_TESTS_LOOP_H
#define RINGBENCH_TESTS_LOOP_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Calls before the first measurement, while processes move to their cores and clock rates
 * rise. BENCH_SETTLE overrides it. */
#define LOOP_SETTLE 50000

struct loop_options {
    size_t min, max;
    int iters; /* 0: depends on the size */
    int warmup;
    int settle;
};

static inline struct loop_options loop_options_read(void)
{
    const char *min = getenv("BENCH_MIN"), *max = getenv("BENCH_MAX");
    const char *iters = getenv("BENCH_ITERS");
    const char *settle = getenv("BENCH_SETTLE");
    struct loop_options options = {8, (size_t)256 << 20, 0, 5, LOOP_SETTLE};

    options.min = min ? strtoull(min, NULL, 10) : options.min;
    options.max = max ? strtoull(max, NULL, 10) : options.max;
    options.iters = iters ? atoi(iters) : 0;
    options.settle = settle ? atoi(settle) : LOOP_SETTLE;
    return options;
}

/* Enough calls to average out the scheduler, which takes a real-time process off a busy
 * core for 50 ms of each second. */
static inline int loop_iters(const struct loop_options *options, size_t size)
{
    if (options->iters > 0)
        return options->iters;
    if (size <= 16384)
        return 2000;
    if (size <= 262144)
        return 500;
    if (size <= 4194304)
        return 120;
    return size <= 16777216 ? 60 : 16;
}

static inline size_t loop_offset(const struct loop_options *options, size_t size, int i)
{
    return (size_t)i % (options->max / size) * size;
}

static inline double loop_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* All elements of a rank's input are rank + 1. */
static inline size_t loop_wrong(const float *data, size_t count, int ranks)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++)
        wrong += data[i] != (float)(ranks * (ranks + 1) / 2);
    return wrong;
}

#endif
