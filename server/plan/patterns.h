/* patterns.h - the patterns of plan.h, a file each */
#ifndef RINGBENCH_SERVER_PLAN_PATTERNS_H
#define RINGBENCH_SERVER_PLAN_PATTERNS_H

#include "server/plan/plan.h"

/* Fill an empty round, in which there is room for each node once. */
typedef void plan_fill(const struct plan_pool *pool, size_t round,
                       struct plan_round *out);

/* The rounds from number `first` on, in which suspects are measured again. */
void confirm_fill(const struct plan_pool *pool, size_t first, size_t round,
                  struct plan_round *out);

plan_fill pairs_fill, scaling_fill;

/* Of a plan over n nodes that loses none. rounds: of pairs. More than there are means all
 * of them; 0 means all up to PAIRS_ALL_MAX nodes, and PAIRS_ROUNDS of more, which find a
 * slow node as surely. */
#define PAIRS_ALL_MAX 16
#define PAIRS_ROUNDS 8
typedef struct plan_size plan_size_of(size_t n, size_t rounds);

plan_size_of pairs_size, scaling_size;

#endif
