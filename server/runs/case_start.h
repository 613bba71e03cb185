/* SPDX-License-Identifier: Apache-2.0 */
/* case_start.h - what a case needs to start: its rendezvous and the commands to its nodes
 */
#ifndef RINGBENCH_SERVER_RUNS_CASE_START_H
#define RINGBENCH_SERVER_RUNS_CASE_START_H

#include "common/base/error.h"
#include "server/runs/live_case_state.h"

/* Open the store of attempt number `attempt`, which lets in only the case's nodes. */
struct rendezvous_store *case_start_open_store(const struct live_case *live, int attempt,
                                               struct error *err);

/* Send every node its start command. -1 when a node is not there any more. */
int case_start_send(struct live_case *live, struct error *err);

/* The variables that the case sets, null for one that it unsets. A new reference. */
json_t *case_start_env(const struct live_case *live);

#endif
