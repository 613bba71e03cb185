/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - computes the statistics behind verdicts. The functions do no I/O.
 * docs/explanation/method.md gives the reasons for these methods;
 * tests/vectors/stats.json contains SciPy's results for comparison. */
#ifndef RINGBENCH_SERVER_ANALYSIS_STATS_H
#define RINGBENCH_SERVER_ANALYSIS_STATS_H

#include <stddef.h>

/* Minimum number of values for a trimmed mean, which omits a sixth of the values at each
 * end. */
#define STATS_TRIM_FROM 8

/* Regularized incomplete beta function I_x(a, b), for 0 <= x <= 1, a > 0 and b > 0. */
double stats_beta(double x, double a, double b);

/* Student's t distribution with df > 0 degrees of freedom, not necessarily an integer.
 * stats_t_cdf() returns P(T <= t). stats_t_quantile() returns the t with P(T <= t) = p,
 * for 0 < p < 1. */
double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df);

/* Return the mean, or the standard deviation, of n >= 1 values. The deviation uses the
 * divisor n - 1 and is 0 for one value. */
double stats_mean(const double *values, size_t n);
double stats_deviation(const double *values, size_t n);

/* An estimated effect: a difference from 0, or head relative to base. If the estimate
 * overflows, error, low, high and p are NaN. */
struct stats_effect {
    double base, head; /* the means on which the estimate is based */
    double estimate;
    double error, df; /* standard error, 0 if all values are equal; degrees of freedom */
    double low, high; /* 95 % interval */
    /* two-sided p value: the probability of such an estimate by chance */
    double p;
    size_t trimmed; /* number of values trimmed at each end, per side */
};

/* Compute the effect from n >= 2 differences of pairs with Student's t. From
 * STATS_TRIM_FROM pairs on, the mean is trimmed. Modifies the differences. Does not set
 * base and head. */
void stats_paired(double *differences, size_t n, struct stats_effect *effect);

/* Compute the effect of head relative to an unrelated base with Welch's t. From
 * STATS_TRIM_FROM values per side on, Yuen's test with trimmed means is used. n_base and
 * n_head are at least 2. Modifies the values. */
void stats_separate(double *base, size_t n_base, double *head, size_t n_head,
                    struct stats_effect *effect);

/* Compute interval and p from estimate, error and df. */
void stats_conclude(struct stats_effect *effect);

/* Compute the interval for another confidence between 0 and 1. */
void stats_interval(const struct stats_effect *effect, double confidence, double *low,
                    double *high);

/* Apply Benjamini and Hochberg's step-up procedure to n p values, one for each question.
 * Return the greatest p that counts as a discovery, or -1. On average at most a fraction
 * `level` of the discoveries is false ("Controlling the False Discovery Rate", Journal of
 * the Royal Statistical Society B 57, 1995). */
double stats_discoveries(const double *p, size_t n, double level);

/* Return the number of pairs, or of cases per side, at which half the interval's width
 * would be `half` (> 0), with the same scatter. n: number of pairs or cases on which the
 * effect is based. Returns at most STATS_REPEATS_MAX. */
#define STATS_REPEATS_MAX 1000
size_t stats_repeats(const struct stats_effect *effect, size_t n, double half,
                     double confidence);

#endif
