/* SPDX-License-Identifier: Apache-2.0 */
/* tree_join.h - find the ranks of a case and connect them (used by tree.c)
 *
 * Each rank publishes its addresses in the store, under ringbench/rank/R. Rank 0 reads
 * all records and publishes ringbench/tree: the hosts with their leaders, and each rank's
 * host. The other ranks read only ringbench/tree. */
#ifndef RINGBENCH_WORKER_GROUP_TREE_JOIN_H
#define RINGBENCH_WORKER_GROUP_TREE_JOIN_H

#include "agent/worker/group/tree.h"

/* tree->watch must be initialized. */
int tree_join(struct tree *tree, const struct tree_config *config, struct error *err);

#endif
