/* patterns.h - the patterns of plan.h, a file each */
#ifndef RINGBENCH_SERVER_PLAN_PATTERNS_H
#define RINGBENCH_SERVER_PLAN_PATTERNS_H

#include "server/plan/plan.h"

/* Fill an empty round, in which there is room for each node once. -1 when memory is out.
 */
typedef int plan_fill(const struct plan_pool *pool, size_t round, struct plan_round *out);

/* The rounds from number `first` on, in which suspects are measured again. */
int confirm_fill(const struct plan_pool *pool, size_t first, size_t round,
                 struct plan_round *out);

plan_fill pairs_fill, scaling_fill;
struct plan_size pairs_size(size_t n), scaling_size(size_t n);

/* Of so many rounds, or all if that is more than there are. 0: all rounds up to
 * PAIRS_ALL_MAX nodes, PAIRS_ROUNDS of more, which find a slow node as surely. */
#define PAIRS_ALL_MAX 16
#define PAIRS_ROUNDS 8
struct plan_size pairs_of_rounds(size_t n, size_t n_rounds);

#endif
