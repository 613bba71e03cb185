/* node_claim.h - whether an agent may have a node's name. Agents share their token; each
 * is told from the others by the key that it made and sends with every request. */
#ifndef RINGBENCH_SERVER_RUNS_NODE_CLAIM_H
#define RINGBENCH_SERVER_RUNS_NODE_CLAIM_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "server/nodes/node.h"

struct scheduler;

#define NODE_KEY_MIN 32
#define NODE_KEY_MAX 128

/* Fill in what follows from the name, the boot id and the key. */
int node_claim_identify(const struct scheduler *scheduler,
                        struct node_registration *registration, const char *key,
                        struct error *err);

/* ERROR_CONFLICT when another agent has the name; *retry_after_s: when it may be free
 * because that one seems to be gone, or 0. */
int node_claim_check(const struct scheduler *scheduler,
                     const struct node_registration *registration, int64_t now_ns,
                     long *retry_after_s, struct error *err);

/* Fill in what the registration takes, and make room for it among the nodes known:
 * ERROR_LIMIT when there is none. */
int node_claim_room(struct scheduler *scheduler, struct node_registration *registration,
                    const json_t *body, size_t bytes, struct error *err);

/* ERROR_DENIED when it is not the key of the node's agent. */
int node_claim_check_key(const struct node *node, const char *key, struct error *err);

/* Forget the node's agent, whose place it is no more, unless it has sent events: else
 * each registration with a new name, boot or key would be kept for a month. */
void node_claim_drop(struct scheduler *scheduler, const struct node *node);

#endif
