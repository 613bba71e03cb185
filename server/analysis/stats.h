/* stats.h - the statistics behind verdicts. Plain functions; docs/explanation/method.md
 * says why these, and tests/vectors/stats.json has what SciPy makes of the same values.
 */
#ifndef RINGBENCH_SERVER_ANALYSIS_STATS_H
#define RINGBENCH_SERVER_ANALYSIS_STATS_H

#include <stddef.h>

/* From so many values on, a mean leaves out a sixth of them at each end. */
#define STATS_TRIM_FROM 8

/* The regularised incomplete beta function I_x(a, b); 0 <= x <= 1, a and b above 0. */
double stats_beta(double x, double a, double b);

/* Student's t with df > 0 degrees of freedom, which need not be whole: P(T <= t), and
 * the t of which that is p, 0 < p < 1. */
double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df);

/* Of n >= 1 values. The second: of n - 1, 0 of one value. */
double stats_mean(const double *values, size_t n);
double stats_deviation(const double *values, size_t n);

/* How far the middle of values is from 0, or that of head's from base's. Where these
 * are more than a double can hold, error, low, high and p are NaN. */
struct stats_effect {
    double base, head; /* the means that the estimate is the difference of */
    double estimate;
    double error,
        df; /* standard error, 0 where all values are alike; degrees of freedom */
    double low, high; /* 95 % interval */
    double p;         /* two-sided, of no effect */
    size_t trimmed;   /* values left out at each end, on a side */
};

/* Of differences between pairs: Student's t, from STATS_TRIM_FROM on that of the trimmed
 * mean. n >= 2; the values are changed. base and head of the effect are not set. */
void stats_paired(double *differences, size_t n, struct stats_effect *effect);

/* Of head against base with nothing in common: Welch's t, from STATS_TRIM_FROM on both
 * sides on Yuen's. n of each >= 2; the values are changed. */
void stats_separate(double *base, size_t n_base, double *head, size_t n_head,
                    struct stats_effect *effect);

/* From estimate, error and df: interval and p. */
void stats_conclude(struct stats_effect *effect);

/* The interval of another confidence, between 0 and 1. */
void stats_interval(const struct stats_effect *effect, double confidence, double *low,
                    double *high);

/* Benjamini and Hochberg's step-up procedure over n p values, 1 for each question: the
 * greatest p that counts as a discovery, or -1 if none does. Of the discoveries a share
 * of at most `level` is false on average ("Controlling the False Discovery Rate", Journal
 * of the Royal Statistical Society B 57, 1995). */
double stats_discoveries(const double *p, size_t n, double level);

/* With how many pairs, or cases a side, the half width of the interval would come down to
 * `half`, above 0, if the scatter stays what it is. n: as many as the effect is of.
 * Returns STATS_REPEATS_MAX where that or more would be needed. */
#define STATS_REPEATS_MAX 1000
size_t stats_repeats(const struct stats_effect *effect, size_t n, double half,
                     double confidence);

#endif
