/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - computes the figures of a row from the model */
#include "agent/fleet/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/bench/stopping.h"
#include "agent/worker/sim/noise.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"

#define DRAWS 1000 /* random numbers per row */

/* Fill in the minimum number of blocks. Workers would measure more blocks if the noise
 * required them. */
static void fill_blocks(const struct sim_model *model, const struct run_spec *spec,
                        uint64_t key, double us, struct measurement *out)
{
    double calls = us > 0 ? ceil(run_spec_block_us(spec, us) / us) : 1;
    long n = spec->samples.min;
    double *sorted = memory_zeroed((size_t)n, sizeof(*sorted), "blocks");

    out->n_blocks = n;
    out->iters = n * (long)calls;
    out->blocks_us = memory_zeroed((size_t)n, sizeof(*sorted), "blocks");
    for (long i = 0; i < n; i++)
        out->blocks_us[i] = us * noise_of_calls(model->params, model->seed,
                                                key + (uint64_t)i, (long)calls, 0);
    memcpy(sorted, out->blocks_us, (size_t)n * sizeof(*sorted));
    order_stat_sort(sorted, (size_t)n);
    struct stopping_look look = stopping_look(&spec->samples, sorted, (size_t)n);
    out->mean_us = look.median;
    out->has_interval = look.has_interval;
    out->low_us = look.low;
    out->high_us = look.high;
    out->is_noisy = !look.is_narrow;
    out->p5_us = order_stat_quantile(sorted, (size_t)n, 0.05);
    out->p95_us = order_stat_quantile(sorted, (size_t)n, 0.95);
    free(sorted);
}

/* Ranks differ by noise. In sendrecv they also differ by their links. */
static void fill_ranks(const struct sim_model *model, const struct bench_row *row,
                       const struct sim_estimate *estimate, uint64_t key,
                       struct measurement *out)
{
    double bytes = sim_model_bytes(model, &row->call), sum = 0;

    out->times_us = memory_zeroed((size_t)row->n_ranks, sizeof(double), "times");
    for (int i = 0; i < row->n_ranks; i++) {
        out->times_us[i] =
            sim_model_rank_us(model, row->call.kind, bytes, estimate, i) *
            noise_of_calls(model->params, model->seed, key + DRAWS - 1, out->iters, i);
        sum += out->times_us[i];
    }
    for (int i = 0; i < row->n_ranks; i++) {
        double us = out->times_us[i] *= out->mean_us * row->n_ranks / sum;

        out->min_us = i == 0 || us < out->min_us ? us : out->min_us;
        out->max_us = us > out->max_us ? us : out->max_us;
    }
}

static double mean_us(const struct sim_model *model, const struct bench_row *row,
                      double bytes, const struct sim_estimate *estimate)
{
    double sum = 0;

    for (int i = 0; i < row->n_ranks; i++)
        sum += sim_model_rank_us(model, row->call.kind, bytes, estimate, i);
    return sum / row->n_ranks * model->case_factor *
           noise_of_row(model->params, model->seed, row->call.kind, bytes);
}

void figures_make(const struct sim_model *model, const struct case_file *file,
                  const struct bench_row *row, struct measurement *out, double *us)
{
    const struct run_spec *spec = file->spec;
    double bytes = sim_model_bytes(model, &row->call);
    struct sim_estimate estimate = sim_model_choose(model, row->call.kind, bytes);
    uint64_t key = row->row.row * DRAWS;

    *us = mean_us(model, row, bytes, &estimate);
    if (*us >= HUGE_VAL)
        return;
    *out = (struct measurement){.skew_us = -1};
    if (spec->iters) {
        out->iters = spec->iters * spec->agg_iters;
        out->mean_us =
            *us * noise_of_calls(model->params, model->seed, key, out->iters, 0);
    } else {
        fill_blocks(model, spec, key, *us, out);
    }
    fill_ranks(model, row, &estimate, key, out);
    out->first_us = out->enqueue_us = out->mean_us;
    sim_model_describe(&estimate, &out->choice);
}
