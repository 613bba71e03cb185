/* SPDX-License-Identifier: Apache-2.0 */
/* run_conditions.h - under which conditions each node ran a case: the event `conditions`,
 * kept as text, since a run may have thousands of cases on as many nodes */
#ifndef RINGBENCH_SERVER_RUNS_RUN_CONDITIONS_H
#define RINGBENCH_SERVER_RUNS_RUN_CONDITIONS_H

#include <jansson.h>

#include "server/runs/run.h"

/* Keep what an event says of its node, in place of what an earlier one said. */
void run_conditions_take(const struct run *run, struct run_case *c, const json_t *body);

/* Of the nodes that have said something, in the case's order; a new reference, NULL: none
 * has. */
json_t *run_conditions_json(const struct run *run, const struct run_case *c);

void run_conditions_release(const struct run *run, struct run_case *c);

#endif
