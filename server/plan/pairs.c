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

/* How far the circle has turned in a round. When it has turned by t, the numbers of two
 * that meet (0 to m - 1, of the m that turn) add up to -2(t + 1) modulo m. A few rounds
 * in a row would let a node meet neighbours, often of one rack; turns that are evenly
 * apart would do so in twos, since 2t comes round twice. So these sums are evenly apart,
 * and t is half of one: m is odd. */
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
