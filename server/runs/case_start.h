/* SPDX-License-Identifier: Apache-2.0 */
/* case_start.h - starts a case: opens its rendezvous and sends the commands to its
 * nodes */
#ifndef RINGBENCH_SERVER_RUNS_CASE_START_H
#define RINGBENCH_SERVER_RUNS_CASE_START_H

#include "common/base/error.h"
#include "server/runs/live_case_state.h"

/* Open the rendezvous store for attempt number `attempt`. The store admits only the
 * case's nodes. */
struct rendezvous_store *case_start_open_store(const struct live_case *live, int attempt,
                                               struct error *err);

/* Send every node its start command. Returns -1 with err if a node is not alive any
 * more. */
int case_start_send(struct live_case *live, struct error *err);

/* Return the environment variables that the case sets, as a new reference. A null value
 * unsets a variable. */
json_t *case_start_env(const struct live_case *live);

#endif
