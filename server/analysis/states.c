/* states.c - whether values come in two states */
#include "server/analysis/states.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/order_stat.h"
#include "server/analysis/stats.h"

#define LEAST_GAP 1.1 /* as a ratio */
#define LEAST_DEVIATIONS 4.0
#define LEAST_VALUES 6

/* Squares within the groups of the first k values and the others. */
static double within(const double *sorted, size_t n, size_t k)
{
    double low = stats_deviation(sorted, k), high = stats_deviation(sorted + k, n - k);

    return low * low * (double)(k - 1) + high * high * (double)(n - k - 1);
}

static size_t best_split(const double *sorted, size_t n, double *least)
{
    size_t best = 1;

    *least = within(sorted, n, 1);
    for (size_t k = 2; k < n; k++) {
        double squares = within(sorted, n, k);

        if (squares < *least) {
            *least = squares;
            best = k;
        }
    }
    return best;
}

void states_find(const double *values, size_t n, struct states *out)
{
    double *sorted, squares, gap;
    size_t k;

    *out = (struct states){0};
    if (n < LEAST_VALUES)
        return;
    sorted = memory_zeroed(n, sizeof(*sorted), "a median of states");
    memcpy(sorted, values, n * sizeof(*sorted));
    order_stat_sort(sorted, n);
    k = best_split(sorted, n, &squares);
    gap = sorted[k] - sorted[k - 1];
    if (gap >= log(LEAST_GAP) &&
        gap >= LEAST_DEVIATIONS * sqrt(squares / (double)(n - 2))) {
        out->found = true;
        out->split = (sorted[k] + sorted[k - 1]) / 2;
        out->apart = stats_mean(sorted + k, n - k) - stats_mean(sorted, k);
        out->upper = n - k;
    }
    free(sorted);
}
