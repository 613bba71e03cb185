/* SPDX-License-Identifier: Apache-2.0 */
/* stopping.h - when a row has enough blocks: the interval of their median is narrow
 * enough, or time or blocks are used up. Pure.
 *
 * Who looks at an interval after every block and stops when it happens to be narrow stops
 * where it happens to be wrong: 95 % intervals then cover 90 % (tests/unit/
 * test_stopping.c). So there are few looks, after `min` blocks, twice as many, and so on
 * up to `max`, and each look's interval has the level at which all of them together cover
 * with STOPPING_LEVEL (Bonferroni). That is exact for any distribution as long as blocks
 * do not depend on each other. */
#ifndef RINGBENCH_WORKER_STOPPING_H
#define RINGBENCH_WORKER_STOPPING_H

#include <stdbool.h>
#include <stddef.h>

#include "common/spec/run_spec.h"

#define STOPPING_LEVEL 0.95

/* What blocks say of a row. */
struct stopping_look {
    double median;
    bool has_interval; /* false: too few blocks */
    double low, high;  /* of the median */
    bool is_narrow;    /* its half width is within `rel` of the median */
};

/* The level of a single look's interval. */
double stopping_level(const struct run_samples *rule);

/* sorted: the n >= 1 values so far, in rising order. */
struct stopping_look stopping_look(const struct run_samples *rule, const double *sorted,
                                   size_t n);

/* How many blocks there are to be at the next look, after n of them have taken elapsed_s;
 * n: there is none. n = 0: the first look. */
long stopping_next(const struct run_samples *rule, bool is_narrow, long n,
                   double elapsed_s);

/* Whether the look at `next`, as stopping_next said after n, is the last: time had cut
 * the way to it short, and one more was not reckoned with in stopping_level. */
bool stopping_is_last(const struct run_samples *rule, long n, long next);

/* Whether time is up after n blocks, before the look that was planned: it is then at
 * once, and the last. */
bool stopping_is_late(const struct run_samples *rule, long n, double elapsed_s);

#endif
