/* control_stats.c - one figure out of the repetitions of all ranks */
#include "agent/worker/bench/control_stats.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/median.h"
#include "common/base/order_stat.h"

#define AT_ONCE 256 /* repetitions of all ranks in one exchange */

/* The slowest rank of each repetition. */
static int find_slowest(struct bench *bench, const double *own_us, size_t iters,
                        double *slowest_us, struct error *err)
{
    size_t n = (size_t)bench->file->world_size;
    double *all = calloc(n * AT_ONCE, sizeof(*all));
    int status = all ? 0 : error_set(err, ERROR_MEMORY, "control: out of memory");

    for (size_t done = 0; !status && done < iters; done += AT_ONCE) {
        size_t part = iters - done < AT_ONCE ? iters - done : AT_ONCE;
        status = bench_allgather(bench, own_us + done, part * sizeof(*all), all, err);
        for (size_t i = 0; !status && i < part * n; i++) {
            double *slowest = &slowest_us[done + i % part];
            *slowest = all[i] > *slowest ? all[i] : *slowest;
        }
    }
    free(all);
    return status;
}

static int gather_medians(struct bench *bench, double *own_us, size_t iters,
                          struct control_stats *out, struct error *err)
{
    double median;

    order_stat_sort(own_us, iters);
    median = median_of_sorted(own_us, iters);
    if (bench_allgather(bench, &median, sizeof(median), out->medians_us, err))
        return -1;
    out->min_us = out->max_us = out->medians_us[0];
    for (int i = 1; i < bench->file->world_size; i++) {
        double us = out->medians_us[i];
        out->min_us = us < out->min_us ? us : out->min_us;
        out->max_us = us > out->max_us ? us : out->max_us;
    }
    return 0;
}

int control_stats_combine(struct bench *bench, double *own_us, long iters,
                          struct control_stats *out, struct error *err)
{
    size_t n = (size_t)iters;
    double *slowest = calloc(n, sizeof(*slowest));

    memset(out, 0, sizeof(*out));
    out->iters = iters;
    out->medians_us = calloc((size_t)bench->file->world_size, sizeof(*out->medians_us));
    int status = slowest && out->medians_us
                     ? find_slowest(bench, own_us, n, slowest, err)
                     : error_set(err, ERROR_MEMORY, "control: out of memory");
    if (!status) {
        order_stat_sort(slowest, n);
        out->median_us = median_of_sorted(slowest, n);
        out->p99_us = order_stat_quantile(slowest, n, 0.99);
        status = gather_medians(bench, own_us, n, out, err);
    }
    free(slowest);
    return status;
}

void control_stats_release(struct control_stats *stats)
{
    free(stats->medians_us);
    memset(stats, 0, sizeof(*stats));
}
