/* SPDX-License-Identifier: Apache-2.0 */
/* thin.c - thins a line's points but keeps its extremes and alarms */
#include "server/summary/thin.h"

/* Choose up to two points, in ascending order, for the points first to end - 1. */
static size_t choose_two(const double *values, const double *alarms, size_t first,
                         size_t end, size_t *kept)
{
    size_t least = first, greatest = first, worst = first, other;

    for (size_t i = first + 1; i < end; i++) {
        if (values[i] < values[least])
            least = i;
        if (values[i] > values[greatest])
            greatest = i;
        if (alarms && alarms[i] > alarms[worst])
            worst = i;
    }
    other = alarms && alarms[worst] > 0.0 ? worst : least;
    kept[0] = other < greatest ? other : greatest;
    if (other == greatest)
        return 1;
    kept[1] = other < greatest ? greatest : other;
    return 2;
}

size_t thin_choose(const double *values, const double *alarms, size_t count, size_t most,
                   size_t *kept)
{
    size_t stretches = (most - 2) / 2, n = 0, inner;

    if (count <= most) {
        for (size_t i = 0; i < count; i++)
            kept[i] = i;
        return count;
    }
    inner = count - 2;
    kept[n++] = 0;
    for (size_t i = 0; i < stretches; i++) {
        size_t first = 1 + inner * i / stretches;
        size_t end = 1 + inner * (i + 1) / stretches;

        n += choose_two(values, alarms, first, end, kept + n);
    }
    kept[n++] = count - 1;
    return n;
}

size_t thin_share(size_t n, size_t total, size_t lines, size_t budget)
{
    size_t spare = budget - lines * THIN_LEAST;
    size_t share;

    if (total <= budget)
        return n;
    share = THIN_LEAST + (size_t)((double)spare * (double)n / (double)total);
    return share < n ? share : n;
}
