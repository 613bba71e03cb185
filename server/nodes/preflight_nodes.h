/* SPDX-License-Identifier: Apache-2.0 */
/* preflight_nodes.h - preflight checks of registered nodes, and the limits of their links
 * */
#ifndef RINGBENCH_SERVER_NODES_PREFLIGHT_NODES_H
#define RINGBENCH_SERVER_NODES_PREFLIGHT_NODES_H

#include "server/analysis/preflight.h"
#include "server/nodes/node.h"

/* Return preflight_judge() for these nodes. A new object. */
json_t *preflight_nodes(const struct node *const *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole);

/* Return the same in two steps for /preflight; the second may run on another thread. of:
 * the node whose findings are requested; NULL: all nodes. Each returns a new reference.
 * */
json_t *preflight_snapshot(const struct node *const *nodes, size_t n);
json_t *preflight_of_snapshot(const json_t *snapshot, const char *of);

/* Return ceiling_verdict() for these nodes with the given ranks on each. A new object. */
json_t *ceiling_nodes(const struct node *const *nodes, const long *ranks, size_t n,
                      const struct preflight_use *use);

#endif
