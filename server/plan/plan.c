/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - chooses the groups of nodes that measure together in each round */
#include "server/plan/plan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/spec/run_matrix.h"
#include "server/plan/patterns.h"

/* Each of 16 suspects needs 9 confirming pairs and as many reference pairs; see
 * culprit.h. */
#define SUSPECTS_GROUPS ((size_t)16 * 2 * 9)

/* Every case uses all nodes. */
static void all_fill(const struct plan_pool *pool, size_t round, struct plan_round *out)
{
    for (size_t i = 0; round == 0 && i < pool->fleet.n_nodes; i++)
        out->nodes[i] = i;
    out->sizes[0] = pool->fleet.n_nodes;
    out->n = round == 0 ? 1 : 0;
}

static struct plan_size all_size(size_t n, size_t rounds)
{
    (void)rounds;
    return (struct plan_size){.rounds = 1, .groups = 1, .smallest = n, .largest = n};
}

static const struct {
    plan_fill *fill;
    plan_size_of *size;
    size_t least_nodes;
    bool seeks_culprit;
} patterns[] = {
    [PATTERN_ALL] = {all_fill, all_size, 1, false},
    [PATTERN_PAIRS] = {pairs_fill, pairs_size, 2, true},
    [PATTERN_SCALING] = {scaling_fill, scaling_size, 1, false},
};

bool plan_seeks_culprit(enum run_pattern pattern)
{
    return patterns[pattern].seeks_culprit;
}

/* Return the first round that measures suspects again, or SIZE_MAX if there is none
 * yet. */
static size_t first_confirming(const struct plan_pool *pool)
{
    for (size_t i = 0; i < pool->fleet.n_groups; i++)
        if (pool->fleet.groups[i].confirms)
            return pool->rounds[i];
    return SIZE_MAX;
}

void plan_round_make(const struct plan_pool *pool, size_t round, struct plan_round *out)
{
    size_t first = first_confirming(pool), n = pool->fleet.n_nodes + 1;

    *out = (struct plan_round){.nodes = memory_zeroed(n, sizeof(*out->nodes), "a plan"),
                               .sizes = memory_zeroed(n, sizeof(*out->sizes), "a plan")};
    if (first == SIZE_MAX)
        patterns[pool->pattern].fill(pool, round, out);
    if (out->n == 0 && patterns[pool->pattern].seeks_culprit)
        confirm_fill(pool, first < round ? first : round, round, out);
}

void plan_round_release(struct plan_round *round)
{
    free(round->nodes);
    free(round->sizes);
    *round = (struct plan_round){NULL, NULL, 0, false};
}

struct plan_size plan_size(const struct run_spec *spec, size_t n)
{
    return patterns[spec->pattern].size(n, (size_t)spec->rounds);
}

size_t plan_least_nodes(enum run_pattern pattern)
{
    return patterns[pattern].least_nodes;
}

size_t plan_cases(const struct run_spec *spec, size_t n)
{
    return plan_size(spec, n).groups * run_matrix_cases(spec);
}

/* Return the largest number of pair rounds that leaves room for confirmations, or 0. */
static size_t rounds_with_room(const struct run_spec *spec, size_t n)
{
    size_t groups = PLAN_CASES_MAX / run_matrix_cases(spec);

    if (spec->pattern != PATTERN_PAIRS || groups < SUSPECTS_GROUPS)
        return 0;
    return (groups - SUSPECTS_GROUPS) / (n / 2);
}

bool plan_fits(const struct run_spec *spec, size_t n, char *why, size_t size)
{
    size_t cases = plan_cases(spec, n), fit;
    char use[96] = "fewer repeats";

    if (n < patterns[spec->pattern].least_nodes) {
        snprintf(why, size, "pattern %s needs at least %zu nodes, not %zu",
                 run_pattern_name(spec->pattern), patterns[spec->pattern].least_nodes, n);
        return false;
    }
    if (cases <= PLAN_CASES_MAX)
        return true;
    fit = rounds_with_room(spec, n);
    if (fit > 0)
        snprintf(use, sizeof(use),
                 "at most %zu rounds (to leave room for confirmations) or fewer nodes",
                 fit);
    snprintf(
        why, size,
        "pattern %s over %zu nodes makes %zu cases, but a run may contain at most %d: "
        "use %s",
        run_pattern_name(spec->pattern), n, cases, PLAN_CASES_MAX, use);
    return false;
}
