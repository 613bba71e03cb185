/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - the groups of nodes that measure together, in rounds, for each pattern
 *
 * The groups of a round have no node in common. A round that confirms suspects depends on
 * the results of earlier groups. Pure: a restarted server derives the same plan from the
 * stored groups and continues in the middle. */
#ifndef RINGBENCH_SERVER_PLAN_PLAN_H
#define RINGBENCH_SERVER_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/spec/run_spec.h"
#include "server/analysis/culprit.h"

/* Maximum for one run, including repeats and matrix combinations but not
 * confirmations. */
#define PLAN_CASES_MAX 10000

/* Groups of nodes. Nodes are numbers from 0 to the run's n - 1. */
struct plan_round {
    size_t *nodes; /* nodes of all groups, one group after another */
    size_t *sizes; /* nodes in each group */
    size_t n;      /* groups; 0: the plan is complete */
    bool confirms; /* the round measures suspects again: see culprit_confirm() */
};

struct plan_pool {
    enum run_pattern pattern;
    const bool *is_lost;        /* for each node; NULL: none is lost */
    struct culprit_fleet fleet; /* groups of the earlier rounds, in order */
    const size_t *rounds;       /* round number of each of these groups */
    size_t n_rounds;            /* rounds of pairs, from the spec's `rounds` */
};

/* Compute a round's groups. Release the round after use. */
void plan_round_make(const struct plan_pool *pool, size_t round, struct plan_round *out);
void plan_round_release(struct plan_round *round);

/* Size of a plan over n nodes if none is lost and no suspect is confirmed. */
struct plan_size {
    size_t rounds, groups;
    size_t smallest, largest; /* nodes in a group */
};
struct plan_size plan_size(const struct run_spec *spec, size_t n);

/* Return whether the pattern searches for a slow node and confirms suspects at the
 * end. */
bool plan_seeks_culprit(enum run_pattern pattern);

/* Return the fewest nodes for which the pattern is useful. */
size_t plan_least_nodes(enum run_pattern pattern);

/* Return the number of cases for such a run over n nodes. */
size_t plan_cases(const struct run_spec *spec, size_t n);

/* Return whether there are enough nodes and not too many cases. Else fill `why` with a
 * message for the user. */
bool plan_fits(const struct run_spec *spec, size_t n, char *why, size_t size);

#endif
