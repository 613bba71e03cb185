/* SPDX-License-Identifier: Apache-2.0 */
/* tree_join.h - how the ranks of a case find and connect to each other (used by tree.c)
 *
 * Each rank publishes where it is under ringbench/rank/R. Rank 0 reads all of it and
 * publishes ringbench/tree: the hosts with their leaders, and the host of each rank. The
 * others read that alone. */
#ifndef RINGBENCH_WORKER_GROUP_TREE_JOIN_H
#define RINGBENCH_WORKER_GROUP_TREE_JOIN_H

#include "agent/worker/group/tree.h"

/* Fill a tree whose watch is initialised. */
int tree_join(struct tree *tree, const struct tree_config *config, struct error *err);

#endif
