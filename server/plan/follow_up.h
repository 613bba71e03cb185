/* SPDX-License-Identifier: Apache-2.0 */
/* follow_up.h - the run to start after a run over all of its nodes, to find the node that
 * slows them down. Pure: depends only on the run's document. */
#ifndef RINGBENCH_SERVER_PLAN_FOLLOW_UP_H
#define RINGBENCH_SERVER_PLAN_FOLLOW_UP_H

#include <jansson.h>
#include <stdbool.h>

/* With fewer nodes, a slow node and a slow link cannot be told apart. */
#define FOLLOW_UP_NODES_MIN 3

/* Return whether a run (as in docs/reference/api.md) can have a follow-up after its end,
 * provided that it has enough nodes. */
bool follow_up_fits(const json_t *run);

/* Return the verdict that reports slowness, borrowed, or NULL. */
const json_t *follow_up_reason(const json_t *verdicts);

/* Return a new object {"title", "why", "spec"}, or NULL if the run has not ended or has
 * no follow-up. why: the sentence of the verdict that reports slowness, or null. */
json_t *follow_up_of(const json_t *run);

#endif
