/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.h - a simulated fleet: its options, and the functions of a node for its cases */
#ifndef RINGBENCH_AGENT_FLEET_FLEET_H
#define RINGBENCH_AGENT_FLEET_FLEET_H

#include <jansson.h>

#include "agent/config/config.h"
#include "agent/link/command.h"
#include "agent/link/outbox.h"
#include "common/base/error.h"

struct fleet_config {
    struct agent_config agent; /* common to all agents, without name and labels */
    long nodes, racks;         /* racks 0: none */
    long for_s;                /* 0: until a signal */
    char *seed;                /* NULL: each run uses its own seed */
    char *slow;                /* PLACE:FACTOR,... or @FILE; NULL: nothing is slow */
};

/* Read the options. Returns the same values as agent_config_load(). */
int fleet_config_load(struct fleet_config *config, int argc, char **argv,
                      struct error *err);
void fleet_config_release(struct fleet_config *config);

/* Return the current slow places in the format of SIM_SLOW; the caller frees the text.
 * Reads the file again in each call. Returns NULL with the reason if the file or its text
 * is invalid. */
char *fleet_config_slow(const struct fleet_config *config, struct error *err);

/* Return the number of the node's rack, from 1, or 0 if there are no racks. `arg` is the
 * fleet's configuration. */
int fleet_config_rack(const void *arg, const char *node);

/* A simulated node. It uses a real agent's link (docs/development/agent-protocol.md). */
struct fleet_node;
const char *fleet_node_name(const struct fleet_node *node);
struct outbox *fleet_node_outbox(struct fleet_node *node);

/* Send an event of a rank or, with CASE_NO_RANK, of the case. `event` supplies further
 * keys; this function takes ownership of it. */
void fleet_node_send(struct fleet_node *node, const struct case_id *id, int rank,
                     const char *type, json_t *event);

/* Send `gone`: no process of the case is left on the node. */
void fleet_node_end_case(struct fleet_node *node, const struct case_id *id);

#endif
