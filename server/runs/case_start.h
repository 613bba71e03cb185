/* SPDX-License-Identifier: Apache-2.0 */
/* case_start.h - the start of a case: its rendezvous and the commands to its nodes */
#ifndef RINGBENCH_SERVER_RUNS_CASE_START_H
#define RINGBENCH_SERVER_RUNS_CASE_START_H

#include "common/base/error.h"
#include "server/runs/live_case_state.h"

/* Open the rendezvous store for attempt number `attempt`, which admits only the case's
 * nodes. */
struct rendezvous_store *case_start_open_store(const struct live_case *live, int attempt,
                                               struct error *err);

/* Send every node its start command. Returns -1 if a node is not registered any more. */
int case_start_send(struct live_case *live, struct error *err);

/* Return the environment variables that the case sets, with null for each that it unsets
 * (a new reference). */
json_t *case_start_env(const struct live_case *live);

#endif
