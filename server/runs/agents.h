/* SPDX-License-Identifier: Apache-2.0 */
/* agents.h - the agents of all nodes, and the nodes that they speak for
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

struct agents_config { /* as scheduler_config has them */
    long lease_s, poll_s, batch_lost_s, max_nodes;
};

/* All is borrowed, and lives until the store has closed. */
struct agents *agents_create(const struct services *services, struct node_registry *nodes,
                             struct cases *cases, const struct agents_config *config);

/* Answer every parked poll. */
void agents_close(struct agents *agents);

void agents_free(struct agents *agents);

/* Once a tick: polls that were held long enough, agents that are silent for too long. */
void agents_tick(struct agents *agents, int64_t now_ns);

/* Forget a node that is lost or has left. ERROR_NOT_FOUND, ERROR_CONFLICT for one that is
 * alive. */
int agents_forget(struct agents *agents, const char *name, struct error *err);

/* ---- What agents ask ---- */

/* Who asks: the request's numeric address, the agent's secret (may be NULL), and the size
 * of its body. */
struct agents_caller {
    const char *peer, *key;
    size_t bytes;
};

struct agents_registered {
    bool is_new;
    long retry_after_s; /* ERROR_CONFLICT: when the name may be free, or 0 */
};

/* Register or resume. Returns the answer's body (new reference); NULL with problems (422)
 * or err (409). */
json_t *agents_register(struct agents *agents, json_t *body,
                        const struct agents_caller *caller,
                        struct agents_registered *registered, struct problems *problems,
                        struct error *err);

/* Below: ERROR_NOT_FOUND for an agent that is not known or not alive, ERROR_DENIED when
 * `key` is not the one that it registered with. */

/* Wait for commands above `after`. is_spool_full: the agent's disk has no room for
 * events, and its ranks wait. `done` runs once, perhaps at once. -1: it will not run. A
 * newer poll of the same agent ends an older one. */
int agents_poll(struct agents *agents, const char *agent, const char *key, int64_t after,
                bool is_spool_full, node_commands *done, void *arg, struct error *err);

/* The poll's client went away: `done` will not run. */
void agents_poll_forget(struct agents *agents, const char *agent, void *arg);

/* Take a batch of event lines. `done` runs once, perhaps at once, when all is durable or
 * with err: ERROR_NOT_FOUND (register again), ERROR_CONFLICT (a gap; acked says where to
 * go on), ERROR_INVALID, ERROR_UNAVAILABLE (retry). */
typedef void agents_acked(void *arg, const struct error *err, int64_t acked);
void agents_events(struct agents *agents, const char *agent, const char *key,
                   const char *ndjson, size_t len, agents_acked *done, void *arg);

/* The agent will end its workers and go: its cases end with the reason. */
int agents_announce_leave(struct agents *agents, const char *agent, const char *key,
                          const char *reason, struct error *err);

int agents_deregister(struct agents *agents, const char *agent, const char *key,
                      struct error *err);

#endif
