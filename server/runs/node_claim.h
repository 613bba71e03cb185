/* SPDX-License-Identifier: Apache-2.0 */
/* node_claim.h - whether an agent may use a node's name. Agents share a token; the key
 * that each agent generates and sends with every request identifies it. */
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

/* Fill in the members that derive from the name, the boot ID and the key. */
int node_claim_identify(struct store *store, struct node_registration *registration,
                        const char *key, struct error *err);

/* Fail with ERROR_CONFLICT if another agent has the name. *retry_after_s: seconds until
 * the name may be free because that agent seems to be gone, or 0. */
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

/* Check that the registry has room for the registration. Returns 1 if *gone, a node that
 * is lost or has left, must be forgotten first. Returns -1 with ERROR_LIMIT if all nodes
 * are alive. */
int node_claim_room(const struct node_registry *nodes, long max_nodes,
                    const struct node_registration *registration, struct node **gone,
                    struct error *err);

/* Fail with ERROR_DENIED if `key` is not the key of the node's agent. */
int node_claim_check_key(const struct node *node, const char *key, struct error *err);

/* Forget the node's previous agent unless it has sent events. Otherwise each
 * registration with a new name, boot ID or key would be kept for a month. */
void node_claim_drop(struct store *store, const struct node *node);

#endif
