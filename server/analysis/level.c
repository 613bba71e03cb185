/* SPDX-License-Identifier: Apache-2.0 */
/* level.c - decides if a new run is at the level of similar runs */
#include "server/analysis/level.h"

#include <assert.h>
#include <math.h>

#include "common/base/median.h"
#include "common/base/order_stat.h"

double level_of(double *cases, size_t n)
{
    order_stat_sort(cases, n);
    return median_of_sorted(cases, n);
}

struct level_scatter level_scatter(const struct level_group *groups, size_t n)
{
    struct level_scatter out = {0};
    double squares = 0;

    for (size_t i = 0; i < n; i++) {
        if (groups[i].n < 2)
            continue;
        double deviation = stats_deviation(groups[i].levels, groups[i].n);

        squares += deviation * deviation * (double)(groups[i].n - 1);
        out.df += groups[i].n - 1;
    }
    if (out.df > 0)
        out.deviation = sqrt(squares / (double)out.df);
    return out;
}

void level_effect(const struct level_group *base, const struct level_group *head,
                  const struct level_scatter *scatter, struct stats_effect *effect)
{
    assert(base->n > 0 && head->n > 0);
    *effect = (struct stats_effect){.base = stats_mean(base->levels, base->n),
                                    .head = stats_mean(head->levels, head->n),
                                    .error = (double)NAN,
                                    .df = (double)scatter->df};
    effect->estimate = effect->head - effect->base;
    if (scatter->df > 0)
        effect->error =
            scatter->deviation * sqrt(1 / (double)base->n + 1 / (double)head->n);
    stats_conclude(effect);
}

size_t level_runs_missing(const struct level_scatter *scatter)
{
    return scatter->df + 1 < LEVEL_RUNS_MIN ? LEVEL_RUNS_MIN - 1 - scatter->df : 0;
}

double level_confidence(size_t n)
{
    return 1 - (1 - LEVEL_CONFIDENCE) / (double)(n > 0 ? n : 1);
}
