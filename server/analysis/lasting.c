/* lasting.c - whether a series left its reference for good */
#include "server/analysis/lasting.h"

#include <stdlib.h>
#include <string.h>

int lasting_find(const double *levels, size_t n, const double *reference,
                 size_t n_reference, double margin, struct level_split *split)
{
    struct level_split_query query = {
        .end = n_reference + n,
        .before_min = n_reference,
        .after_min = LASTING_NIGHTS_MIN,
        .margin = margin,
    };
    struct level_series series;
    double *all;
    int result;

    if (n_reference < LEVEL_RUNS_MIN || n < LASTING_NIGHTS_MIN)
        return 0;
    all = malloc((n_reference + n) * sizeof(*all));
    if (!all)
        return -1;
    memcpy(all, reference, n_reference * sizeof(*all));
    memcpy(all + n_reference, levels, n * sizeof(*all));
    result = level_series_init(&series, all, n_reference + n);
    free(all);
    if (result)
        return -1;
    query.series = &series;
    level_split_find(&query, split);
    level_series_release(&series);
    if (split->p > LASTING_LEVEL)
        return 0;
    split->at -= n_reference;
    split->earliest -= n_reference;
    split->latest -= n_reference;
    return 1;
}
