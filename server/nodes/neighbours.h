/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours.h - counts the agents that share a machine. Such agents would bind their
 * ranks to the same cores, because each agent assigns cores starting from the first.
 * Agents in different containers may not see each other. The server can detect them,
 * because the boot ID (the inventory's `machine`) is the same in all containers of a
 * machine. */
#ifndef RINGBENCH_SERVER_NODES_NEIGHBOURS_H
#define RINGBENCH_SERVER_NODES_NEIGHBOURS_H

#include <stddef.h>

#include "server/nodes/node.h"

/* For each of the n nodes, count the live agents on the same machine that share a CPU
 * with the node, including the node's own agent. nodes[i] may be NULL: its count is 1. */
void neighbours_count(const struct node_registry *registry, struct node *const *nodes,
                      size_t n, int *counts);

#endif
