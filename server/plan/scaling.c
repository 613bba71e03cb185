/* scaling.c - the first 1, 2, 4 ... of the nodes, and then all, one after the other */
#include "server/plan/patterns.h"

static size_t count_alive(const struct plan_pool *pool)
{
    size_t alive = 0;

    for (size_t i = 0; i < pool->fleet.n_nodes; i++)
        alive += !pool->is_lost || !pool->is_lost[i];
    return alive;
}

/* How many nodes a round has of so many; 0: there is no such round. */
static size_t round_nodes(size_t round, size_t alive)
{
    size_t before = round == 0 ? 0 : (size_t)1 << (round - 1);
    size_t nodes = (size_t)1 << round;

    if (before >= alive)
        return 0;
    return nodes < alive ? nodes : alive;
}

void scaling_fill(const struct plan_pool *pool, size_t round, struct plan_round *out)
{
    size_t nodes = round_nodes(round, count_alive(pool)), taken = 0;

    for (size_t i = 0; taken < nodes; i++)
        if (!pool->is_lost || !pool->is_lost[i])
            out->nodes[taken++] = i;
    out->sizes[0] = nodes;
    out->n = nodes > 0 ? 1 : 0;
}

struct plan_size scaling_size(size_t n, size_t rounds)
{
    for (rounds = 0; round_nodes(rounds, n) > 0;)
        rounds++;
    return (struct plan_size){
        .rounds = rounds, .groups = rounds, .smallest = 1, .largest = n};
}
