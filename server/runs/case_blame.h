/* SPDX-License-Identifier: Apache-2.0 */
/* case_blame.h - finds the ranks or nodes to blame for a failed, late or stalled case
 * (see blame.h). The functions only read the case. */
#ifndef RINGBENCH_SERVER_RUNS_CASE_BLAME_H
#define RINGBENCH_SERVER_RUNS_CASE_BLAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/runs/live_case_state.h"

/* Functions that return json_t * return a new reference. */

/* Return the cause of the failure: a lost node, else the first rank that failed by
 * itself, else the rank that most others blame. */
json_t *case_blame(const struct live_case *live, const struct run_case *model);

/* Return true if further reports cannot change the blame: a rank failed by itself, or all
 * ranks have reported. */
bool case_blame_is_clear(const struct live_case *live, const struct run_case *model);

/* The evaluation of the ranks' reports, cached for all nodes that are lost together. A
 * node's loss changes the result only if a rank on that node failed by itself. */
struct case_blame_word {
    bool is_known;
    int own, blamed; /* the rank that failed by itself, and the rank that most others
                        blame; -1: none */
};

/* Return true if the loss of run node `i` explains its peers' reports: the peers blame a
 * rank on that node, or each other. */
bool case_blame_is_explained(const struct live_case *live, size_t i,
                             struct case_blame_word *word);

/* Return the ranks that have not joined, or whose communicator has not formed, after
 * join_s. */
json_t *case_blame_missing(const struct live_case *live, const struct run_case *model,
                           long join_s);

/* Return the pairs of ranks that cannot reach each other, as reported by the ranks that
 * tried. */
json_t *case_blame_unreached(const struct live_case *live);

/* Return true if ranks that are reported as unreachable explain the case's end better
 * than `blame`. Such reports can still arrive while the case is stopping. */
bool case_blame_is_of_ways(const struct live_case *live, const json_t *blame);

/* Return the nodes whose agents have no room for events, which blocks all ranks; NULL if
 * there are none. */
json_t *case_blame_full(const struct live_case *live);

/* Return a blame for a case without progress. The lagging ranks are added once the agents
 * have reported their processes. */
json_t *case_blame_stall(const struct live_case *live);

/* Complete the blame for a full disk or a stall with the agents' answers: add the verdict
 * on the stall, and a rank's stack. */
void case_blame_explain(const struct live_case *live, json_t *blame);

/* Return the nodes whose workers have not exited although they were done. */
json_t *case_blame_lingering(const struct live_case *live);

/* Return where the first wrong elements are, and their total number. */
json_t *case_blame_wrong(const struct live_case *live, const struct run_case *model);

#endif
