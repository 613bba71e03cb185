/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.h - a simulated fleet: its options, and a node as its cases use it */
#ifndef RINGBENCH_AGENT_FLEET_FLEET_H
#define RINGBENCH_AGENT_FLEET_FLEET_H

#include <jansson.h>

#include "agent/config/config.h"
#include "agent/link/command.h"
#include "agent/link/outbox.h"
#include "common/base/error.h"

struct fleet_config {
    struct agent_config agent; /* what all agents have in common; name and labels not */
    long nodes, racks;         /* racks 0: none */
    long for_s;                /* 0: until told to leave */
    char *seed;                /* NULL: that of each run */
    char *slow;                /* PLACE:FACTOR,... or @FILE; NULL: nothing is slow */
};

/* As agent_config_load. */
int fleet_config_load(struct fleet_config *config, int argc, char **argv,
                      struct error *err);
void fleet_config_release(struct fleet_config *config);

/* What is slow now, as SIM_SLOW has it; the caller's to free. A file is read each time.
 * NULL: it can't be read, or is wrong. */
char *fleet_config_slow(const struct fleet_config *config, struct error *err);

/* The rack of the node, from 1; 0: there are none. arg: the config. */
int fleet_config_rack(const void *arg, const char *node);

/* A node: an agent by docs/development/agent-protocol.md, with a real agent's link. */
struct fleet_node;
const char *fleet_node_name(const struct fleet_node *node);
struct outbox *fleet_node_outbox(struct fleet_node *node);

/* Send an event of one of its ranks (or CASE_NO_RANK); event: further keys, taken over.
 */
void fleet_node_say(struct fleet_node *node, const struct case_id *id, int rank,
                    const char *type, json_t *event);

/* Nothing is left of the case here. */
void fleet_node_end_case(struct fleet_node *node, const struct case_id *id);

#endif
