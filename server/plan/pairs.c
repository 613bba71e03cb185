/* pairs.c - every node with every other: rounds of pairs that have no node in common, by
 * the circle method of round-robin tournaments: one stays, the others go round it */
#include "server/plan/patterns.h"

/* An odd one out gets a place beside nobody. */
static size_t places(size_t n)
{
    return n + n % 2;
}

/* Who is at a place of the circle, which has turned by `round`. Place 0 does not turn. */
static size_t at(size_t place, size_t round, size_t n)
{
    size_t turning = places(n) - 1;

    return place == 0 ? 0 : 1 + (place - 1 + turning - round % turning) % turning;
}

int pairs_fill(const struct plan_pool *pool, size_t round, struct plan_round *out)
{
    size_t n = pool->fleet.n_nodes, last = places(n) - 1;

    if (round >= pairs_size(n).rounds)
        return 0;
    for (size_t place = 0; place <= last / 2; place++) {
        size_t a = at(place, round, n), b = at(last - place, round, n);

        if (a >= n || b >= n)
            continue;
        out->nodes[2 * out->n] = a < b ? a : b;
        out->nodes[2 * out->n + 1] = a < b ? b : a;
        out->sizes[out->n++] = 2;
    }
    return 0;
}

struct plan_size pairs_size(size_t n)
{
    return (struct plan_size){.rounds = n < 2 ? 0 : places(n) - 1,
                              .groups = n < 2 ? 0 : n * (n - 1) / 2,
                              .smallest = 2,
                              .largest = 2};
}
