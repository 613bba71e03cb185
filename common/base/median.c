/* SPDX-License-Identifier: Apache-2.0 */
/* median.c - computes the median of a stream of values */
#include "common/base/median.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

void median_release(struct median *median)
{
    free(median->values);
    *median = (struct median){0};
}

/* Return the index of the first value that is greater than `value`. */
static size_t place_of(const struct median *median, double value)
{
    size_t low = 0, high = median->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (median->values[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void median_add(struct median *median, double value)
{
    size_t place = place_of(median, value);

    median->values = memory_grown(median->values, median->n, &median->capacity,
                                  sizeof(*median->values), "a median");
    memmove(median->values + place + 1, median->values + place,
            (median->n - place) * sizeof(*median->values));
    median->values[place] = value;
    median->n++;
}

double median_of(const struct median *median)
{
    return median->n ? median_of_sorted(median->values, median->n) : 0.0;
}

/* Halve the middle two values before adding them, because their sum may overflow. */
double median_of_sorted(const double *values, size_t n)
{
    return n % 2 ? values[n / 2] : values[n / 2 - 1] / 2.0 + values[n / 2] / 2.0;
}
