/* SPDX-License-Identifier: Apache-2.0 */
/* states.c - decides if values fall into two distinct states */
#include "server/analysis/states.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/order_stat.h"

#define LEAST_GAP 1.1 /* smallest gap between the states, as a ratio */
#define LEAST_DEVIATIONS 4.0
#define LEAST_VALUES 6

/* Find the split of sorted values that minimizes the sum of squares within both groups.
 * *least: that sum. *apart: the distance between the groups' means. Sums are taken
 * relative to the first value to keep them precise. */
static size_t best_split(const double *sorted, size_t n, double *least, double *apart)
{
    double sum = 0, squares = 0, below = 0;
    size_t best = 0;

    for (size_t i = 0; i < n; i++) {
        sum += sorted[i] - sorted[0];
        squares += (sorted[i] - sorted[0]) * (sorted[i] - sorted[0]);
    }
    *least = HUGE_VAL;
    *apart = 0;
    for (size_t k = 1; k < n; k++) {
        double low, high, within;

        below += sorted[k - 1] - sorted[0];
        low = below / (double)k;
        high = (sum - below) / (double)(n - k);
        within = fmax(squares - below * low - (sum - below) * high, 0);
        if (within < *least) {
            *least = within;
            *apart = high - low;
            best = k;
        }
    }
    return best;
}

void states_find(const double *values, size_t n, struct states *out)
{
    double *sorted, squares, apart, gap;
    size_t k;

    *out = (struct states){0};
    if (n < LEAST_VALUES)
        return;
    sorted = memory_zeroed(n, sizeof(*sorted), "a median of states");
    memcpy(sorted, values, n * sizeof(*sorted));
    order_stat_sort(sorted, n);
    k = best_split(sorted, n, &squares, &apart);
    gap = sorted[k] - sorted[k - 1];
    if (gap >= log(LEAST_GAP) &&
        gap >= LEAST_DEVIATIONS * sqrt(squares / (double)(n - 2))) {
        out->found = true;
        out->split = (sorted[k] + sorted[k - 1]) / 2;
        out->apart = apart;
        out->upper = n - k;
    }
    free(sorted);
}
