/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - plans all pairs of nodes, in rounds of pairs without a common node
 *
 * The rounds follow the circle method for round-robin tournaments: one node stays in
 * place and the others rotate around it. */
#include "server/plan/patterns.h"

/* The circle has an even number of places. If the number of nodes is odd, one place is
 * empty. */
static size_t places(size_t n)
{
    return n + n % 2;
}

/* Return the node at a place of the circle after `round` rotations. Place 0 does not
 * rotate. */
static size_t at(size_t place, size_t round, size_t n)
{
    size_t turning = places(n) - 1;

    return place == 0 ? 0 : 1 + (place - 1 + turning - round % turning) % turning;
}

/* Return how far the circle of the circle method (round-robin tournament) is rotated in a
 * round. After rotation t, the numbers of two partners (0 to m - 1, for m rotating nodes)
 * add up to -2(t + 1) modulo m.
 *
 * These sums are spaced evenly over the rounds, and t is computed from them as half of a
 * sum modulo m, because m is odd. Consecutive rotations would pair a node with neighbors,
 * which often share a rack. Evenly spaced rotations would repeat similar sums, because 2t
 * wraps around twice. */
static size_t turn_of(const struct plan_pool *pool, size_t round, size_t rounds)
{
    size_t turning = places(pool->fleet.n_nodes) - 1;

    if (rounds == turning)
        return round;
    return round * turning / rounds * (turning / 2 + 1) % turning;
}

void pairs_fill(const struct plan_pool *pool, size_t round, struct plan_round *out)
{
    size_t n = pool->fleet.n_nodes, last = places(n) - 1, turn;
    size_t rounds = pairs_size(n, pool->n_rounds).rounds;

    if (round >= rounds)
        return;
    turn = turn_of(pool, round, rounds);
    for (size_t place = 0; place <= last / 2; place++) {
        size_t a = at(place, turn, n), b = at(last - place, turn, n);

        if (a >= n || b >= n)
            continue;
        out->nodes[2 * out->n] = a < b ? a : b;
        out->nodes[2 * out->n + 1] = a < b ? b : a;
        out->sizes[out->n++] = 2;
    }
}

struct plan_size pairs_size(size_t n, size_t rounds)
{
    size_t all = n < 2 ? 0 : places(n) - 1;

    if (rounds == 0)
        rounds = n > PAIRS_ALL_MAX ? PAIRS_ROUNDS : all;
    rounds = rounds < all ? rounds : all;
    return (struct plan_size){
        .rounds = rounds, .groups = rounds * (n / 2), .smallest = 2, .largest = 2};
}
