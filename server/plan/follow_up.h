/* SPDX-License-Identifier: Apache-2.0 */
/* follow_up.h - builds the spec of a follow-up run. If a run over all of its nodes was
 * slow, the follow-up finds the node that caused it. The functions depend only on the
 * run's document. */
#ifndef RINGBENCH_SERVER_PLAN_FOLLOW_UP_H
#define RINGBENCH_SERVER_PLAN_FOLLOW_UP_H

#include <jansson.h>
#include <stdbool.h>

/* With fewer nodes, a slow node cannot be distinguished from a slow link. */
#define FOLLOW_UP_NODES_MIN 3

/* Return true if a run (a document as in docs/reference/api.md) can have a follow-up
 * after its end, provided that it has enough nodes. */
bool follow_up_fits(const json_t *run);

/* Return the first verdict that justifies a search for a slow node, borrowed, or NULL. */
const json_t *follow_up_reason(const json_t *verdicts);

/* Return a new object {"title", "why", "spec"}, or NULL if the run has not ended or
 * cannot have a follow-up. why: the sentence of the verdict that reports slowness, or
 * null. */
json_t *follow_up_of(const json_t *run);

#endif
