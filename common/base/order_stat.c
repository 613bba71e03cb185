/* SPDX-License-Identifier: Apache-2.0 */
/* order_stat.c - computes distribution-free statistics of sorted values */
#include "common/base/order_stat.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void order_stat_sort(double *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof(*values), compare);
}

double order_stat_quantile(const double *sorted, size_t n, double share)
{
    size_t rank = (size_t)ceil(share * (double)n);

    assert(n > 0 && share >= 0 && share <= 1);
    return sorted[rank > 0 ? rank - 1 : 0];
}

/* Return ln P(exactly i of n coins fall heads). before: the result for i - 1. */
static double next_log(double before, size_t n, size_t i)
{
    return before + log((double)(n - i + 1) / (double)i);
}

size_t order_stat_rank(size_t n, double level)
{
    double term = -(double)n * log(2), tail = 0;
    size_t k = 0;

    /* `tail` is P(at most k of n coins fall heads). The comparison tolerates rounding
     * errors. */
    while (k < n / 2) {
        tail += exp(term);
        if (2 * tail > (1 - level) * (1 + 1e-12))
            break;
        k++;
        term = next_log(term, n, k);
    }
    return k;
}

double order_stat_coverage(size_t n, size_t k)
{
    double term = -(double)n * log(2), tail = exp(term);

    assert(k >= 1 && k <= n / 2);
    for (size_t i = 1; i < k; i++) {
        term = next_log(term, n, i);
        tail += exp(term);
    }
    return 1 - 2 * tail;
}

bool order_stat_interval(const double *sorted, size_t n, double level, double *low,
                         double *high)
{
    size_t k = order_stat_rank(n, level);

    if (k == 0)
        return false;
    *low = sorted[k - 1];
    *high = sorted[n - k];
    return true;
}
