/* SPDX-License-Identifier: Apache-2.0 */
/* run_conditions.h - keeps the conditions under which each node ran a case, from
 * `conditions` events. Conditions are stored as text to save memory, since a run may
 * consist of thousands of cases on as many nodes. */
#ifndef RINGBENCH_SERVER_RUNS_RUN_CONDITIONS_H
#define RINGBENCH_SERVER_RUNS_RUN_CONDITIONS_H

#include <jansson.h>

#include "server/runs/run.h"

/* Store the conditions that an event reports for its node, replacing earlier ones. */
void run_conditions_take(const struct run *run, struct run_case *c, const json_t *body);

/* Return the reported conditions in the order of the case's nodes (a new reference), or
 * NULL if no node reported any. */
json_t *run_conditions_json(const struct run *run, const struct run_case *c);

void run_conditions_release(const struct run *run, struct run_case *c);

#endif
