/* SPDX-License-Identifier: Apache-2.0 */
/* patterns.h - declares the patterns of plan.h, each of which is implemented in a
 * separate file */
#ifndef RINGBENCH_SERVER_PLAN_PATTERNS_H
#define RINGBENCH_SERVER_PLAN_PATTERNS_H

#include "server/plan/plan.h"

/* Fill an empty round, which has room for each node once. */
typedef void plan_fill(const struct plan_pool *pool, size_t round,
                       struct plan_round *out);

/* Fill a round that measures suspects again. `first` is the number of the first such
 * round. */
void confirm_fill(const struct plan_pool *pool, size_t first, size_t round,
                  struct plan_round *out);

plan_fill pairs_fill, scaling_fill;

/* Return the size of a plan over n nodes if no node is lost. rounds: number of rounds of
 * pairs, limited to the number of possible rounds. 0 selects all rounds for up to
 * PAIRS_ALL_MAX nodes, and PAIRS_ROUNDS rounds for more nodes, which find a slow node
 * just as reliably. */
#define PAIRS_ALL_MAX 16
#define PAIRS_ROUNDS 8
typedef struct plan_size plan_size_of(size_t n, size_t rounds);

plan_size_of pairs_size, scaling_size;

#endif
