/* SPDX-License-Identifier: Apache-2.0 */
/* stopping.c - decide when a row has enough blocks */
#include "agent/worker/bench/stopping.h"

#include "common/base/median.h"
#include "common/base/order_stat.h"

static long least(long a, long b)
{
    return a < b ? a : b;
}

static long first_look(const struct run_samples *rule)
{
    return least(rule->min, rule->max);
}

double stopping_level(const struct run_samples *rule)
{
    int looks = 1;

    for (long n = first_look(rule); n < rule->max; n = least(2 * n, rule->max))
        looks++;
    return 1 - (1 - STOPPING_LEVEL) / looks;
}

struct stopping_look stopping_look(const struct run_samples *rule, const double *sorted,
                                   size_t n)
{
    struct stopping_look look = {.median = median_of_sorted(sorted, n)};

    look.has_interval =
        order_stat_interval(sorted, n, stopping_level(rule), &look.low, &look.high);
    look.is_narrow =
        look.has_interval && (look.high - look.low) / 2 <= rule->rel * look.median;
    return look;
}

long stopping_next(const struct run_samples *rule, bool is_narrow, long n,
                   double elapsed_s)
{
    double left;

    if (n == 0)
        return first_look(rule);
    if (is_narrow || n >= rule->max || elapsed_s >= rule->max_s)
        return n;
    /* Blocks that fit into the remaining time. */
    left = elapsed_s > 0 ? (rule->max_s - elapsed_s) / elapsed_s * (double)n
                         : (double)rule->max;
    return left < 1           ? n
           : left < (double)n ? least(n + (long)left, rule->max)
                              : least(2 * n, rule->max);
}

bool stopping_is_last(const struct run_samples *rule, long n, long next)
{
    return n > 0 && next < least(2 * n, rule->max);
}

bool stopping_is_late(const struct run_samples *rule, long n, double elapsed_s)
{
    return n >= first_look(rule) && elapsed_s >= rule->max_s;
}
