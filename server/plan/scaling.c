/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.c - plans measurements on the first 1, 2, 4 ... nodes and finally on all nodes,
 * one after another
 *
 * A projection needs four node counts of 3 or more. 4, 8 and 16 are only three counts, so
 * a pool of up to 16 nodes also measures 3, 6 and 12. */
#include "server/plan/patterns.h"

#define SMALL_POOL 16

static size_t count_alive(const struct plan_pool *pool)
{
    size_t alive = 0;

    for (size_t i = 0; i < pool->fleet.n_nodes; i++)
        alive += !pool->is_lost || !pool->is_lost[i];
    return alive;
}

/* Return the number of nodes in a round: 1, 2, 4, 8 ..., or 1, 2, 3, 4, 6, 8, 12, 16 for
 * a small pool. */
static size_t count_of(size_t round, size_t pool)
{
    if (pool > SMALL_POOL)
        return (size_t)1 << round;
    if (round < 2)
        return round + 1;
    return (size_t)(round % 2 == 0 ? 3 : 4) << (round / 2 - 1);
}

/* Return the number of nodes in a round if `alive` nodes of the pool are left, or 0 after
 * the last round. */
static size_t round_nodes(size_t round, size_t pool, size_t alive)
{
    size_t before = round == 0 ? 0 : count_of(round - 1, pool);
    size_t nodes = count_of(round, pool);

    if (before >= alive)
        return 0;
    return nodes < alive ? nodes : alive;
}

void scaling_fill(const struct plan_pool *pool, size_t round, struct plan_round *out)
{
    size_t nodes = round_nodes(round, pool->fleet.n_nodes, count_alive(pool));
    size_t taken = 0;

    for (size_t i = 0; taken < nodes; i++)
        if (!pool->is_lost || !pool->is_lost[i])
            out->nodes[taken++] = i;
    out->sizes[0] = nodes;
    out->n = nodes > 0 ? 1 : 0;
}

struct plan_size scaling_size(size_t n, size_t rounds)
{
    for (rounds = 0; round_nodes(rounds, n, n) > 0;)
        rounds++;
    return (struct plan_size){
        .rounds = rounds, .groups = rounds, .smallest = 1, .largest = n};
}
