/* SPDX-License-Identifier: Apache-2.0 */
/* case_blame.h - whom a failed, late or stalled case names (see blame.h). Pure: reads the
 * case. */
#ifndef RINGBENCH_SERVER_RUNS_CASE_BLAME_H
#define RINGBENCH_SERVER_RUNS_CASE_BLAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/runs/live_case_state.h"

/* All give a new reference. */

/* Why the case failed: a lost node, else the first rank that failed by itself, else the
 * rank that most others blame. */
json_t *case_blame(const struct live_case *live, const struct run_case *model);

/* Whether waiting longer can't change the answer: a rank failed by itself, or all
 * reported. */
bool case_blame_is_clear(const struct live_case *live, const struct run_case *model);

/* What the ranks say, worked out once for all nodes that are found to be lost together:
 * losing one changes it only where a rank had failed by itself there. */
struct case_blame_word {
    bool is_known;
    int own, blamed; /* the rank that failed by itself, that most others blame; or -1 */
};

/* Whether the loss of run node `i` explains what its peers say: the rank that they blame
 * lives there, or they blame each other. */
bool case_blame_is_explained(const struct live_case *live, size_t i,
                             struct case_blame_word *word);

/* Who has not joined, or whose communicator has not formed, after join_s. */
json_t *case_blame_missing(const struct live_case *live, const struct run_case *model,
                           long join_s);

/* Who cannot reach whom, as ranks told when they tried. */
json_t *case_blame_unreached(const struct live_case *live);

/* Whether what ranks told of that while the case was stopped says more than the blame. */
bool case_blame_is_of_ways(const struct live_case *live, const json_t *blame);

/* The nodes whose agents have no room for events: their ranks wait, and those of others
 * for them. NULL: there is none. */
json_t *case_blame_full(const struct live_case *live);

/* That no rank got on for a time; who lags is found when the agents have said what they
 * see. */
json_t *case_blame_stall(const struct live_case *live);

/* Add to a blame of these two what came of asking the agents: the verdict on the stall,
 * and where a rank was. */
void case_blame_explain(const struct live_case *live, json_t *blame);

/* Whose workers are still there after they were done. */
json_t *case_blame_lingering(const struct live_case *live);

/* Where wrong elements were found first, and how many there are in all. */
json_t *case_blame_wrong(const struct live_case *live, const struct run_case *model);

#endif
