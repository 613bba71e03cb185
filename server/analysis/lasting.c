/* SPDX-License-Identifier: Apache-2.0 */
/* lasting.c - decides if a series has left its reference permanently */
#include "server/analysis/lasting.h"

bool lasting_find(const double *levels, size_t n, size_t n_reference, double margin,
                  struct level_split *split)
{
    struct level_series series;
    const struct level_split_query query = {
        .series = &series,
        .end = n,
        .before_min = n_reference,
        .after_min = LASTING_NIGHTS_MIN,
        .margin = margin,
    };

    if (n_reference < LEVEL_RUNS_MIN || n < n_reference + LASTING_NIGHTS_MIN)
        return false;
    level_series_init(&series, levels, n);
    level_split_find(&query, split);
    level_series_release(&series);
    return split->p <= LASTING_LEVEL;
}
