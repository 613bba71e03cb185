/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - a simulated node of a fleet and its cases */
#ifndef RINGBENCH_AGENT_FLEET_NODE_H
#define RINGBENCH_AGENT_FLEET_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/fleet/fleet.h"
#include "agent/link/identity.h"

/* A case whose event `gone` the server has not acknowledged. */
struct held {
    struct case_id id;
    uint64_t seq; /* number of the event `gone`; 0: not sent */
};

struct fleet;
struct link;
struct spool;

struct fleet_node {
    struct fleet *fleet;
    long number; /* from 1 */
    struct agent_config config;
    struct identity identity;
    struct spool *spool;
    struct outbox *outbox;
    json_t *inventory;
    struct link *link;
    struct held *held;
    size_t n_held, capacity;
};

/* Return NULL if the node does not have the case. */
struct held *fleet_node_held(struct fleet_node *node, const struct case_id *id);

#endif
