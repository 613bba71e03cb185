/* SPDX-License-Identifier: Apache-2.0 */
/* stopping.h - decide when a row has enough blocks: the confidence interval of their
 * median is narrow enough, or the limit of time or blocks is reached. Pure functions.
 *
 * A rule that tests the interval after every block stops too often on an interval that is
 * narrow by chance: 95 % intervals then cover only 90 % (tests/unit/test_stopping.c). So
 * there are few looks (interim analyses): after `min` blocks, then after doubling, up to
 * `max`. Each look's interval has the level at which all looks together cover the median
 * with probability STOPPING_LEVEL (Bonferroni). This holds for every distribution if
 * blocks are independent. */
#ifndef RINGBENCH_WORKER_STOPPING_H
#define RINGBENCH_WORKER_STOPPING_H

#include <stdbool.h>
#include <stddef.h>

#include "common/spec/run_spec.h"

#define STOPPING_LEVEL 0.95

/* The median and its interval at a look. */
struct stopping_look {
    double median;
    bool has_interval; /* false: too few blocks */
    double low, high;  /* bounds of the median's confidence interval */
    /* true if half the interval's width is at most `rel` of the median */
    bool is_narrow;
};

/* Confidence level of a single look's interval. */
double stopping_level(const struct run_samples *rule);

/* sorted: all n >= 1 values so far, in rising order. */
struct stopping_look stopping_look(const struct run_samples *rule, const double *sorted,
                                   size_t n);

/* The number of blocks at the next look, after n blocks that took elapsed_s. Returns n if
 * no look follows. With n = 0: the number at the first look. */
long stopping_next(const struct run_samples *rule, bool is_narrow, long n,
                   double elapsed_s);

/* Return true if `next`, which stopping_next returned for n, must be the last look: the
 * time limit made it earlier than planned, and the level of stopping_level does not cover
 * a further look. */
bool stopping_is_last(const struct run_samples *rule, long n, long next);

/* True if the time limit is reached after n blocks, before the planned look. That look
 * then takes place at once and is the last. */
bool stopping_is_late(const struct run_samples *rule, long n, double elapsed_s);

#endif
