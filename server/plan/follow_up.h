/* follow_up.h - what to run behind a run over all of its nodes, to find the one that
 * slows them down. Pure: it follows from the run's document. */
#ifndef RINGBENCH_SERVER_PLAN_FOLLOW_UP_H
#define RINGBENCH_SERVER_PLAN_FOLLOW_UP_H

#include <jansson.h>
#include <stdbool.h>

/* Fewer do not tell a node from a link. */
#define FOLLOW_UP_NODES_MIN 3

/* Whether a run (as docs/reference/api.md has it) has a follow-up once it has ended, if
 * it is over nodes enough. */
bool follow_up_fits(const json_t *run);

/* The verdict that says that something is slow, borrowed; NULL: none does. */
const json_t *follow_up_reason(const json_t *verdicts);

/* {"title", "why", "spec"} of a run that has ended and that it fits, else NULL. why: the
 * verdict's sentence that says that something is slow, or null. A new object. */
json_t *follow_up_of(const json_t *run);

#endif
