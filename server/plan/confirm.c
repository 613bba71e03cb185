/* SPDX-License-Identifier: Apache-2.0 */
/* confirm.c - plans repeat measurements that pair suspects with nodes known to be good
 *
 * The analysis requests pairs in batches and waits until a batch is complete. Earlier
 * requests can therefore be derived again from the groups that were measured before
 * them. */
#include <stdlib.h>

#include "server/plan/patterns.h"

/* Fill a round with pairs, starting at index `from`. Stop at a pair that shares a node
 * with an earlier pair of the round. Return the number of pairs. */
static size_t at_once(const struct culprit_pair *pairs, size_t n, size_t from,
                      struct plan_round *out)
{
    size_t taken = 0;

    for (size_t i = from; i < n; i++, taken++) {
        for (size_t k = 0; k < 2 * taken; k++)
            if (out->nodes[k] == pairs[i].a || out->nodes[k] == pairs[i].b)
                return taken;
        out->nodes[2 * taken] = pairs[i].a;
        out->nodes[2 * taken + 1] = pairs[i].b;
        out->sizes[taken] = 2;
    }
    return taken;
}

/* Fill round number *round of a batch. If the batch has fewer rounds, subtract its number
 * of rounds from *round. */
static void take(const struct culprit_pair *pairs, size_t n, size_t *round,
                 struct plan_round *out)
{
    for (size_t from = 0; from < n;) {
        size_t taken = at_once(pairs, n, from, out);

        if (*round == 0) {
            out->n = taken;
            out->confirms = true;
            return;
        }
        from += taken;
        --*round;
    }
}

/* Return the number of groups that earlier rounds measured. */
static size_t known(const struct plan_pool *pool, size_t round)
{
    size_t n = 0;

    while (n < pool->fleet.n_groups && pool->rounds[n] < round)
        n++;
    return n;
}

void confirm_fill(const struct plan_pool *pool, size_t first, size_t round,
                  struct plan_round *out)
{
    size_t left = round - first, n = 1;

    while (n > 0 && out->n == 0) {
        struct culprit_fleet fleet = pool->fleet;
        struct culprit_pair *pairs;

        fleet.n_groups = known(pool, round - left);
        n = culprit_confirm(&fleet, &pairs);
        take(pairs, n, &left, out);
        free(pairs);
    }
}
