/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - computes the statistics behind verdicts
 *
 * Sources: the continued fraction of the incomplete beta function is 8.17.22 in NIST's
 * Digital Library of Mathematical Functions (DLMF), evaluated with Lentz's method
 * (Applied Optics 15, 1976) as modified by Thompson and Barnett (J. Comput. Phys. 64,
 * 1986). Student's t: DLMF 8.17 and Abramowitz and Stegun 26.7.1. Welch's t: Biometrika
 * 34 (1947). Trimmed means: Tukey and McLaughlin, Sankhya A 25 (1963), and Yuen,
 * Biometrika 61 (1974). GSL provides the incomplete beta function, but its license is the
 * GPL. */
#include "server/analysis/stats.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/order_stat.h"

#define FRACTION_STEPS 10000
#define QUANTILE_STEPS 200
#define TRIM_PART 6
#define CONFIDENCE 0.95

static double log_gamma(double x)
{
    int sign; /* lgamma() would store the sign in a global variable */

    return lgamma_r(x, &sign);
}

static double off_zero(double x)
{
    return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* Perform one step of Lentz's method with the numerator `part`. Return the factor by
 * which the fraction changes. */
static double lentz(double part, double *c, double *d)
{
    *d = 1 / off_zero(1 + part * *d);
    *c = off_zero(1 + part / *c);
    return *c * *d;
}

/* Evaluate the continued fraction. The fraction converges fast for x below (a + 1) / (a +
 * b + 2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1, d = 1 / off_zero(1 - (a + b) * x / (a + 1)), value = d;

    for (int m = 1; m < FRACTION_STEPS; m++) {
        double at = a + 2 * m, factor;

        value *= lentz(m * (b - m) * x / ((at - 1) * at), &c, &d);
        factor = lentz(-(a + m) * (a + b + m) * x / (at * (at + 1)), &c, &d);
        value *= factor;
        if (fabs(factor - 1) < DBL_EPSILON)
            break;
    }
    return value;
}

double stats_beta(double x, double a, double b)
{
    double front;

    assert(x >= 0 && x <= 1 && a > 0 && b > 0);
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    front =
        exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

/* Return P(|T| > |t|). */
static double t_two_sided(double t, double df)
{
    return isinf(t) ? 0 : stats_beta(df / (df + t * t), df / 2, 0.5);
}

double stats_t_cdf(double t, double df)
{
    double tail = t_two_sided(t, df) / 2;

    assert(df > 0);
    return t > 0 ? 1 - tail : tail;
}

static double t_density(double t, double df)
{
    double scale = log_gamma((df + 1) / 2) - log_gamma(df / 2) - log(df * M_PI) / 2;

    return exp(scale - (df + 1) / 2 * log1p(t * t / df));
}

/* Compute the quantile with Newton's method from 0. The distribution is concave above 0,
 * so the steps never overshoot. */
double stats_t_quantile(double p, double df)
{
    double tail = p > 0.5 ? 1 - p : p, t = 0;

    assert(p > 0 && p < 1 && df > 0);
    for (int i = 0; i < QUANTILE_STEPS; i++) {
        double step = (t_two_sided(t, df) / 2 - tail) / t_density(t, df);

        t += step;
        if (fabs(step) <= 4 * DBL_EPSILON * t)
            break;
    }
    return p > 0.5 ? t : -t;
}

double stats_mean(const double *values, size_t n)
{
    double sum = 0;

    assert(n > 0);
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

static double squares(const double *values, size_t n)
{
    double mean = stats_mean(values, n), sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

double stats_deviation(const double *values, size_t n)
{
    return n > 1 ? sqrt(squares(values, n) / (double)(n - 1)) : 0;
}

static size_t trim_of(size_t n)
{
    return n >= STATS_TRIM_FROM ? n / TRIM_PART : 0;
}

/* A mean that excludes the `trim` smallest and the `trim` largest values. */
struct trimmed {
    double mean, variance; /* mean, and the variance of that mean */
    double df;
};

static struct trimmed trimmed_mean(double *values, size_t n, size_t trim)
{
    size_t kept = n - 2 * trim;
    struct trimmed out = {.df = (double)kept - 1};

    assert(n >= 2 && kept >= 2);
    order_stat_sort(values, n);
    out.mean = stats_mean(values + trim, kept);
    /* For the variance, trimmed values are replaced by the nearest value that is kept. */
    for (size_t i = 0; i < trim; i++) {
        values[i] = values[trim];
        values[n - 1 - i] = values[n - 1 - trim];
    }
    out.variance = squares(values, n) / ((double)kept * out.df);
    return out;
}

void stats_interval(const struct stats_effect *effect, double confidence, double *low,
                    double *high)
{
    double half = (double)NAN;

    if (isfinite(effect->estimate) && isfinite(effect->error))
        half = stats_t_quantile(0.5 + confidence / 2, effect->df) * effect->error;
    *low = effect->estimate - half;
    *high = effect->estimate + half;
}

/* Compute interval and p. If the effect overflows, these and the error are NaN. */
void stats_conclude(struct stats_effect *effect)
{
    stats_interval(effect, CONFIDENCE, &effect->low, &effect->high);
    if (!isfinite(effect->low) || !isfinite(effect->high)) {
        effect->low = effect->high = effect->p = effect->error = (double)NAN;
        return;
    }
    if (effect->error > 0)
        effect->p = t_two_sided(effect->estimate / effect->error, effect->df);
    else
        effect->p = fabs(effect->estimate) > 0 ? 0 : 1;
}

void stats_paired(double *differences, size_t n, struct stats_effect *effect)
{
    struct trimmed all;

    *effect = (struct stats_effect){.trimmed = trim_of(n)};
    all = trimmed_mean(differences, n, effect->trimmed);
    effect->estimate = all.mean;
    effect->error = sqrt(all.variance);
    effect->df = all.df;
    stats_conclude(effect);
}

void stats_separate(double *base, size_t n_base, double *head, size_t n_head,
                    struct stats_effect *effect)
{
    size_t least = n_base < n_head ? n_base : n_head;
    bool is_trimmed = least >= STATS_TRIM_FROM;
    struct trimmed a = trimmed_mean(base, n_base, is_trimmed ? trim_of(n_base) : 0);
    struct trimmed b = trimmed_mean(head, n_head, is_trimmed ? trim_of(n_head) : 0);
    double sum = a.variance + b.variance;
    /* The variance is divided first, so that its square cannot overflow */
    double part = sum > 0 ? a.variance / sum : 0;

    *effect = (struct stats_effect){.trimmed = is_trimmed ? trim_of(least) : 0};
    effect->base = a.mean;
    effect->head = b.mean;
    effect->estimate = b.mean - a.mean;
    effect->error = sqrt(sum);
    effect->df =
        sum > 0 ? 1 / (part * part / a.df + (1 - part) * (1 - part) / b.df) : a.df + b.df;
    stats_conclude(effect);
}

double stats_discoveries(const double *p, size_t n, double level)
{
    double greatest = -1.0;

    for (size_t i = 0; i < n; i++) {
        size_t rank = 0;

        for (size_t k = 0; k < n; k++)
            rank += p[k] <= p[i];
        if (p[i] <= level * (double)rank / (double)n)
            greatest = fmax(greatest, p[i]);
    }
    return greatest;
}

/* Return half the width that the interval would have if the effect were based on `wanted`
 * values instead of n. The width decreases as `wanted` grows. */
static double half_width(const struct stats_effect *effect, size_t n, size_t wanted,
                         double confidence)
{
    double more = (double)wanted / (double)n, df = effect->df * more;

    return stats_t_quantile(0.5 + confidence / 2, df > 1 ? df : 1) * effect->error /
           sqrt(more);
}

size_t stats_repeats(const struct stats_effect *effect, size_t n, double half,
                     double confidence)
{
    size_t low = 3, high = STATS_REPEATS_MAX;

    assert(half > 0);
    while (low < high) {
        size_t at = low + (high - low) / 2;

        if (half_width(effect, n, at, confidence) <= half)
            high = at;
        else
            low = at + 1;
    }
    return low;
}
