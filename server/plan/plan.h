/* plan.h - which of a run's nodes measure together: a pattern's groups, in rounds. The
 * groups of a round have no node in common; a round that confirms suspects depends on
 * what the groups before it measured. Pure: what it answers follows from what it is
 * given, so that a server that starts goes on with it in the middle. */
#ifndef RINGBENCH_SERVER_PLAN_PLAN_H
#define RINGBENCH_SERVER_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/spec/run_spec.h"
#include "server/analysis/culprit.h"

/* Of one run but for what suspects add, repeats and the combinations of its matrix
 * included. */
#define PLAN_CASES_MAX 10000

/* Groups of nodes, which are numbers from 0 to the run's n - 1. */
struct plan_round {
    size_t *nodes; /* of all groups, one group behind the other */
    size_t *sizes; /* of the groups */
    size_t n;      /* groups; 0: the plan has come to its end */
    bool confirms; /* what makes groups slow is measured again: culprit_confirm */
};

struct plan_pool {
    enum run_pattern pattern;
    const bool *is_lost;        /* of each node; NULL: none is */
    struct culprit_fleet fleet; /* the groups of the rounds before, in their order */
    const size_t *rounds;       /* of these groups */
    size_t n_rounds;            /* of pairs, as the spec's `rounds` */
};

/* What a round has; release it after use. */
void plan_round_make(const struct plan_pool *pool, size_t round, struct plan_round *out);
void plan_round_release(struct plan_round *round);

/* Of a plan over n nodes that loses none. What is slow adds to it. */
struct plan_size {
    size_t rounds, groups;
    size_t smallest, largest; /* nodes of a group */
};
struct plan_size plan_size(const struct run_spec *spec, size_t n);

/* Whether its groups are to say who is slow, and suspects are measured again at the end.
 */
bool plan_seeks_culprit(enum run_pattern pattern);

/* The fewest nodes that the pattern makes sense with. */
size_t plan_least_nodes(enum run_pattern pattern);

/* The cases that such a run over n nodes has. */
size_t plan_cases(const struct run_spec *spec, size_t n);

/* Whether the nodes are enough and the cases not too many; else why (to show) says so. */
bool plan_fits(const struct run_spec *spec, size_t n, char *why, size_t size);

#endif
