/* SPDX-License-Identifier: Apache-2.0 */
/* run_nodes.h - finds the nodes of a run and of its cases */
#ifndef RINGBENCH_SERVER_RUNS_RUN_NODES_H
#define RINGBENCH_SERVER_RUNS_RUN_NODES_H

#include "server/runs/run.h"

/* Return the nodes that the case runs on; borrowed. */
struct run_nodes run_case_nodes(const struct run *run, const struct run_case *c);

/* Return the node with that name, or NULL. */
const struct run_node *run_nodes_find(const struct run_nodes *nodes, const char *name);

/* Return the node that hosts a rank, or NULL if there is no such rank. */
const struct run_node *run_nodes_of_rank(const struct run_nodes *nodes, int rank);

/* Return the nodes' names as a new array. */
json_t *run_nodes_names(const struct run_nodes *nodes);

#endif
