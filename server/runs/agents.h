/* SPDX-License-Identifier: Apache-2.0 */
/* agents.h - handles the requests of agents: registrations, polls and batches of events
 * (docs/development/agent-protocol.md) */
#ifndef RINGBENCH_SERVER_RUNS_AGENTS_H
#define RINGBENCH_SERVER_RUNS_AGENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/problem.h"
#include "server/nodes/node.h"

struct agents;
struct cases;
struct services;

struct agents_config { /* see scheduler_config */
    long lease_s, poll_s, batch_lost_s, max_nodes;
};

/* All arguments are borrowed and must live until the store has closed. */
struct agents *agents_create(const struct services *services, struct node_registry *nodes,
                             struct cases *cases, const struct agents_config *config);

/* Answer every open poll, because the server stops. */
void agents_close(struct agents *agents);

void agents_free(struct agents *agents);

/* Answer polls that were held for poll_s, and detect agents that are silent for too long.
 * Call this once per tick. */
void agents_tick(struct agents *agents, int64_t now_ns);

/* Forget a node that is lost or has left. Fails with ERROR_NOT_FOUND, with ERROR_CONFLICT
 * if the node is alive, or with ERROR_UNAVAILABLE while its events are being stored. */
int agents_forget(struct agents *agents, const char *name, struct error *err);

/* ---- Requests from agents ---- */

/* The sender of a request: its numeric address, the agent's secret (may be NULL), and
 * the size of the request's body. */
struct agents_caller {
    const char *peer, *key;
    size_t bytes;
};

struct agents_registered {
    bool is_new;
    /* with ERROR_CONFLICT: seconds until the name may be free, or 0 */
    long retry_after_s;
};

/* Register an agent, or resume its registration. Returns the response body (new
 * reference), or NULL with problems (422) or err (409). */
json_t *agents_register(struct agents *agents, json_t *body,
                        const struct agents_caller *caller,
                        struct agents_registered *registered, struct problems *problems,
                        struct error *err);

/* The functions below fail with ERROR_NOT_FOUND if the agent is unknown or not alive.
 * They fail with ERROR_DENIED if `key` differs from the key that the agent registered
 * with. */

/* Wait for commands numbered above `after`. is_spool_full: the agent's disk has no room
 * for events, so its ranks wait. `done` runs once, perhaps before the return; after -1
 * it never runs. A newer poll from the same agent ends an older one. */
int agents_poll(struct agents *agents, const char *agent, const char *key, int64_t after,
                bool is_spool_full, node_commands *done, void *arg, struct error *err);

/* Drop a poll whose client disconnected; `done` will not run. */
void agents_poll_forget(struct agents *agents, const char *agent, void *arg);

/* Accept a batch of event lines. `done` runs once, perhaps before the return, when all
 * lines are durable or with err. Errors: ERROR_NOT_FOUND (the agent must register again),
 * ERROR_CONFLICT (lines are missing; resume after `acked`), ERROR_INVALID, and
 * ERROR_UNAVAILABLE (retry). */
typedef void agents_acked(void *arg, const struct error *err, int64_t acked);
void agents_events(struct agents *agents, const char *agent, const char *key,
                   const char *ndjson, size_t len, agents_acked *done, void *arg);

/* Record that the agent is about to stop its workers and leave. Its cases end with
 * `reason`. */
int agents_announce_leave(struct agents *agents, const char *agent, const char *key,
                          const char *reason, struct error *err);

int agents_deregister(struct agents *agents, const char *agent, const char *key,
                      struct error *err);

#endif
