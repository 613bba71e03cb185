/* node_log.h - what became of a node, kept in the store for its page */
#ifndef RINGBENCH_SERVER_RUNS_NODE_LOG_H
#define RINGBENCH_SERVER_RUNS_NODE_LOG_H

#include <stdbool.h>

#include "server/nodes/node.h"

struct services;

/* The node's state changed: a word of docs/api.md. detail: why, or NULL. */
void node_log(const struct services *services, const struct node *node, const char *state,
              const char *detail);

/* What was known under a name before it registered. */
struct node_before {
    bool is_known;
    enum node_state state;
};

void node_log_before(const struct node_registry *nodes, const char *name,
                     struct node_before *before);
void node_log_registration(const struct services *services, const struct node *node,
                           const struct node_before *before, bool is_new);

#endif
