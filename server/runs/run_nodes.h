/* run_nodes.h - the nodes of a run */
#ifndef RINGBENCH_SERVER_RUNS_RUN_NODES_H
#define RINGBENCH_SERVER_RUNS_RUN_NODES_H

#include "server/runs/run.h"

/* NULL: it takes no part. */
const struct run_node *run_find_node(const struct run *run, const char *name);

/* The node that a rank lives on; NULL: there is no such rank. */
const struct run_node *run_rank_node(const struct run *run, int rank);

#endif
