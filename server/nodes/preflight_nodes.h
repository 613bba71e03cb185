/* SPDX-License-Identifier: Apache-2.0 */
/* preflight_nodes.h - runs preflight checks on registered nodes, and computes the limits
 * of their links */
#ifndef RINGBENCH_SERVER_NODES_PREFLIGHT_NODES_H
#define RINGBENCH_SERVER_NODES_PREFLIGHT_NODES_H

#include "server/analysis/preflight.h"
#include "server/nodes/node.h"

/* Return the verdict of preflight_judge() on these nodes. A new object. */
json_t *preflight_nodes(const struct node *const *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole);

/* Judge nodes in two steps for /preflight. preflight_snapshot() collects the input, and
 * preflight_of_snapshot() judges it, possibly on another thread. of: the node whose
 * findings are requested; NULL: all nodes. Each function returns a new reference. */
json_t *preflight_snapshot(const struct node *const *nodes, size_t n);
json_t *preflight_of_snapshot(const json_t *snapshot, const char *of);

/* Return the verdict of ceiling_verdict() on these nodes. ranks: number of ranks on each
 * node. A new object. */
json_t *ceiling_nodes(const struct node *const *nodes, const long *ranks, size_t n,
                      const struct preflight_use *use);

#endif
