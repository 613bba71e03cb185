/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - chooses the groups of nodes that measure together, in rounds, for each pattern
 *
 * The groups of a round have no node in common. A round that confirms suspects depends on
 * the results of earlier groups. The functions depend only on their arguments, so a
 * restarted server derives the same plan from the stored groups and continues it. */
#ifndef RINGBENCH_SERVER_PLAN_PLAN_H
#define RINGBENCH_SERVER_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/spec/run_spec.h"
#include "server/analysis/culprit.h"

/* Maximum number of cases in a run, including repeats and matrix combinations but not
 * confirmations. */
#define PLAN_CASES_MAX 10000

/* Groups of nodes. Nodes are numbered from 0 to n - 1 within the run. */
struct plan_round {
    size_t *nodes; /* nodes of all groups, one group after another */
    size_t *sizes; /* number of nodes in each group */
    size_t n;      /* number of groups; 0: the plan is complete */
    bool confirms; /* the round measures suspects again: see culprit_confirm() */
};

struct plan_pool {
    enum run_pattern pattern;
    const bool *is_lost; /* for each node, true if it is lost; NULL: none is lost */
    struct culprit_fleet fleet; /* groups of the earlier rounds, in order */
    const size_t *rounds;       /* round number of each earlier group */
    size_t n_rounds;            /* rounds of pairs, from the spec's `rounds` */
};

/* Compute a round's groups. Release the round after use. */
void plan_round_make(const struct plan_pool *pool, size_t round, struct plan_round *out);
void plan_round_release(struct plan_round *round);

/* Size of a plan over n nodes, if no node is lost and no suspect is confirmed. */
struct plan_size {
    size_t rounds, groups;
    size_t smallest, largest; /* number of nodes in the smallest and largest group */
};
struct plan_size plan_size(const struct run_spec *spec, size_t n);

/* Return true if the pattern searches for a slow node and confirms suspects. */
bool plan_seeks_culprit(enum run_pattern pattern);

/* Return the smallest number of nodes for which the pattern is useful. */
size_t plan_least_nodes(enum run_pattern pattern);

/* Return the number of cases of a run with this spec over n nodes. */
size_t plan_cases(const struct run_spec *spec, size_t n);

/* Return true if there are enough nodes and not too many cases. Otherwise fill `why` with
 * a message for the user. */
bool plan_fits(const struct run_spec *spec, size_t n, char *why, size_t size);

#endif
