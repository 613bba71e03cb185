/* SPDX-License-Identifier: Apache-2.0 */
/* node_claim.h - decides whether an agent may use a node's name. All agents share a
 * token; the key that each agent generates and sends with every request identifies it. */
#ifndef RINGBENCH_SERVER_RUNS_NODE_CLAIM_H
#define RINGBENCH_SERVER_RUNS_NODE_CLAIM_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "server/nodes/node.h"

struct cases;
struct store;

#define NODE_KEY_MIN 32
#define NODE_KEY_MAX 128

/* Fill in the members of `registration` that derive from the name, the boot ID and the
 * key. */
int node_claim_identify(struct store *store, struct node_registration *registration,
                        const char *key, struct error *err);

/* node_claim_check() fails with ERROR_CONFLICT if another agent uses the name.
 * *retry_after_s: seconds until the name may become free because this agent seems to be
 * gone; 0 if unknown. */
struct node_claim {
    const struct node_registry *nodes;
    const struct cases *cases;
    int64_t now_ns, lease_s;
};
int node_claim_check(const struct node_claim *claim,
                     const struct node_registration *registration, long *retry_after_s,
                     struct error *err);

/* Fill in the request's size and an estimate of the memory that the registration takes.
 */
void node_claim_weigh(struct node_registration *registration, const json_t *body,
                      size_t bytes);

/* Check that the registry has room for the registration. Returns 1 if the caller must
 * first forget *gone, a node that is lost or has left. Returns -1 with ERROR_LIMIT if the
 * registry is full and no node can be forgotten. */
int node_claim_room(const struct node_registry *nodes, long max_nodes,
                    const struct node_registration *registration, struct node **gone,
                    struct error *err);

/* Fail with ERROR_DENIED if `key` is not the key of the node's agent. */
int node_claim_check_key(const struct node *node, const char *key, struct error *err);

/* Unless the agent has sent events, remove the stored identity of the node's agent.
 * Otherwise the store would keep each registration with a new name, boot ID or key for a
 * month. */
void node_claim_drop(struct store *store, const struct node *node);

#endif
