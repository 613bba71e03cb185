/* SPDX-License-Identifier: Apache-2.0 */
/* node_claim.h - whether an agent may have a node's name. Agents share their token; each
 * is told from the others by the key that it made and sends with every request. */
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

/* Fill in what follows from the name, the boot id and the key. */
int node_claim_identify(struct store *store, struct node_registration *registration,
                        const char *key, struct error *err);

/* ERROR_CONFLICT when another agent has the name; *retry_after_s: when it may be free
 * because that one seems to be gone, or 0. */
struct node_claim {
    const struct node_registry *nodes;
    const struct cases *cases;
    int64_t now_ns, lease_s;
};
int node_claim_check(const struct node_claim *claim,
                     const struct node_registration *registration, long *retry_after_s,
                     struct error *err);

/* Fill in what the registration takes. */
void node_claim_weigh(struct node_registration *registration, const json_t *body,
                      size_t bytes);

/* Whether there is room for it among the nodes known: 1 when *gone must be forgotten
 * first, a node that is lost or has left; -1 with ERROR_LIMIT when all are alive. */
int node_claim_room(const struct node_registry *nodes, long max_nodes,
                    const struct node_registration *registration, struct node **gone,
                    struct error *err);

/* ERROR_DENIED when it is not the key of the node's agent. */
int node_claim_check_key(const struct node *node, const char *key, struct error *err);

/* Forget the node's agent, whose place it is no more, unless it has sent events: else
 * each registration with a new name, boot or key would be kept for a month. */
void node_claim_drop(struct store *store, const struct node *node);

#endif
