/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c - collect every rank's block times for a row, and decide when to stop */
#include "agent/worker/bench/blocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/bench/stopping.h"
#include "common/base/median.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"

/* One rank's part of an exchange; TIMES: n times, then n enqueue times. */
enum part { ELAPSED_S, IS_IDLE, TIMES };
#define PART(n) (TIMES + 2 * (size_t)(n))

static const struct run_samples *rule_of(const struct blocks *blocks)
{
    return &blocks->bench->file->spec->samples;
}

void blocks_init(struct blocks *blocks, struct bench *bench)
{
    const struct case_file *file = bench->file;
    size_t most = (size_t)file->spec->samples.max, ranks = (size_t)file->world_size;
    size_t groups = (size_t)file->groups.n;

    memset(blocks, 0, sizeof(*blocks));
    blocks->bench = bench;
    blocks->us = memory_zeroed(groups * most, sizeof(double), "blocks");
    blocks->enqueue_us = memory_zeroed(groups * most, sizeof(double), "blocks");
    blocks->shares = memory_zeroed(ranks, sizeof(double), "blocks");
    blocks->parts = memory_zeroed(ranks * PART(BLOCKS_AT_ONCE), sizeof(double), "blocks");
    blocks->is_idle = memory_zeroed(groups, sizeof(bool), "blocks");
    blocks->scratch = memory_zeroed(most, sizeof(double), "blocks");
}

void blocks_release(struct blocks *blocks)
{
    free(blocks->us);
    free(blocks->enqueue_us);
    free(blocks->shares);
    free(blocks->parts);
    free(blocks->is_idle);
    free(blocks->scratch);
    memset(blocks, 0, sizeof(*blocks));
}

void blocks_add(struct blocks *blocks, long k, long n, double us, double enqueue_us)
{
    assert(k < n && n <= BLOCKS_AT_ONCE);
    assert(blocks->n + k < rule_of(blocks)->max);
    blocks->own[TIMES + k] = us;
    blocks->own[TIMES + n + k] = enqueue_us;
}

void blocks_tell(struct blocks *blocks, bool is_idle, double elapsed_s)
{
    blocks->own[ELAPSED_S] = elapsed_s;
    blocks->own[IS_IDLE] = is_idle ? 1 : 0;
}

/* ---- The exchange ---- */

static double *of_group(const struct blocks *blocks, double *values, int group)
{
    return values + (size_t)group * (size_t)rule_of(blocks)->max;
}

static const double *part_of(const struct blocks *blocks, int rank, long n)
{
    return blocks->parts + (size_t)rank * PART(n);
}

static void add_means(struct blocks *blocks, long n)
{
    const struct split_groups *groups = &blocks->bench->file->groups;

    for (int rank = 0; rank < blocks->bench->file->world_size; rank++) {
        int group = groups->of[rank];
        const double *theirs = part_of(blocks, rank, n) + TIMES;
        double *us = of_group(blocks, blocks->us, group) + blocks->n;
        double *enqueue_us = of_group(blocks, blocks->enqueue_us, group) + blocks->n;

        for (long i = 0; i < n; i++) {
            us[i] += theirs[i] / groups->sizes[group];
            enqueue_us[i] += theirs[n + i] / groups->sizes[group];
        }
    }
}

/* Shares are relative to each block's mean, so that slow blocks do not weigh more. */
static void add_shares(struct blocks *blocks, long n)
{
    const struct split_groups *groups = &blocks->bench->file->groups;

    for (int rank = 0; rank < blocks->bench->file->world_size; rank++) {
        const double *us = of_group(blocks, blocks->us, groups->of[rank]) + blocks->n;
        const double *theirs = part_of(blocks, rank, n);

        blocks->is_idle[groups->of[rank]] = theirs[IS_IDLE] > 0;
        for (long i = 0; i < n; i++)
            blocks->shares[rank] += us[i] > 0 ? theirs[TIMES + i] / us[i] : 1;
        if (theirs[ELAPSED_S] > blocks->elapsed_s)
            blocks->elapsed_s = theirs[ELAPSED_S];
    }
}

/* All ranks have added the same number of blocks. */
int blocks_share(struct blocks *blocks, long n, struct error *err)
{
    if (bench_allgather(blocks->bench, blocks->own, PART(n) * sizeof(double),
                        blocks->parts, err))
        return -1;
    add_means(blocks, n);
    add_shares(blocks, n);
    blocks->n_before = blocks->n;
    blocks->n += n;
    return 0;
}

/* ---- Statistics ---- */

double blocks_latest_us(const struct blocks *blocks)
{
    long n = blocks->n - blocks->n_before;
    double slowest = 0;

    for (int group = 0; group < blocks->bench->file->groups.n; group++) {
        const double *us = of_group(blocks, blocks->us, group) + blocks->n_before;
        double mean = 0;

        for (long i = 0; i < n; i++)
            mean += us[i] / (double)n;
        slowest = mean > slowest ? mean : slowest;
    }
    return slowest;
}

/* A group's values in rising order; valid until the next call of this function. */
static const double *sorted_of(const struct blocks *blocks, double *values, int group)
{
    size_t n = (size_t)blocks->n;

    memcpy(blocks->scratch, of_group(blocks, values, group), n * sizeof(*values));
    order_stat_sort(blocks->scratch, n);
    return blocks->scratch;
}

long blocks_wanted(struct blocks *blocks)
{
    const struct run_samples *rule = rule_of(blocks);
    int n_groups = blocks->n > 0 ? blocks->bench->file->groups.n : 0;
    bool is_narrow = true;
    long wanted;

    if (blocks->is_last)
        return blocks->n;
    for (int i = 0; is_narrow && i < n_groups; i++) {
        const double *sorted = sorted_of(blocks, blocks->us, i);

        is_narrow = blocks->is_idle[i] ||
                    stopping_look(rule, sorted, (size_t)blocks->n).is_narrow;
    }
    wanted = stopping_next(rule, is_narrow, blocks->n, blocks->elapsed_s);
    blocks->is_last = stopping_is_last(rule, blocks->n, wanted);
    return wanted;
}

bool blocks_are_late(const struct blocks *blocks)
{
    return stopping_is_late(rule_of(blocks), blocks->n, blocks->elapsed_s);
}

static void fill_quantiles(const struct blocks *blocks, const double *sorted,
                           struct measurement *out)
{
    size_t n = (size_t)blocks->n;
    struct stopping_look look = stopping_look(rule_of(blocks), sorted, n);

    out->mean_us = look.median;
    out->has_interval = look.has_interval;
    out->low_us = look.low;
    out->high_us = look.high;
    out->is_noisy = !look.is_narrow;
    out->p5_us = order_stat_quantile(sorted, n, 0.05);
    out->p95_us = order_stat_quantile(sorted, n, 0.95);
}

/* Scale each rank's mean share by the median, so that the mean over the ranks equals the
 * median. */
static void fill_ranks(const struct blocks *blocks, int group, struct measurement *out)
{
    const struct split_groups *groups = &blocks->bench->file->groups;

    for (int rank = 0; rank < blocks->bench->file->world_size; rank++) {
        int place = groups->place[rank];
        double us = out->mean_us * blocks->shares[rank] / (double)blocks->n;

        if (groups->of[rank] != group)
            continue;
        out->times_us[place] = us;
        out->min_us = place == 0 || us < out->min_us ? us : out->min_us;
        out->max_us = place == 0 || us > out->max_us ? us : out->max_us;
    }
}

static void fill_group(const struct blocks *blocks, int group, struct measurement *out)
{
    size_t n = (size_t)blocks->n;

    out->blocks_us = memory_zeroed(n, sizeof(*out->blocks_us), "blocks");
    memcpy(out->blocks_us, of_group(blocks, blocks->us, group), n * sizeof(*blocks->us));
    out->n_blocks = blocks->n;
    fill_quantiles(blocks, sorted_of(blocks, blocks->us, group), out);
    out->enqueue_us = median_of_sorted(sorted_of(blocks, blocks->enqueue_us, group), n);
    fill_ranks(blocks, group, out);
}

void blocks_figures(const struct blocks *blocks, struct measurement *out)
{
    for (int i = 0; i < blocks->bench->file->groups.n; i++)
        fill_group(blocks, i, &out[i]);
}
