/* SPDX-License-Identifier: Apache-2.0 */
/* preflight_nodes.h - registered nodes, looked at before a run: what is wrong with them,
 * and what their links allow */
#ifndef RINGBENCH_SERVER_NODES_PREFLIGHT_NODES_H
#define RINGBENCH_SERVER_NODES_PREFLIGHT_NODES_H

#include "server/analysis/preflight.h"
#include "server/nodes/node.h"

/* preflight_judge() of these. A new object. */
json_t *preflight_nodes(const struct node *const *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole);

/* The same in two steps, of which the second may run on another thread, and as /preflight
 * answers it. of: the node whose findings are asked for; NULL: of all. Each returns a new
 * reference. */
json_t *preflight_snapshot(const struct node *const *nodes, size_t n);
json_t *preflight_of_snapshot(const json_t *snapshot, const char *of);

/* ceiling_verdict() of these, with so many ranks each. A new object. */
json_t *ceiling_nodes(const struct node *const *nodes, const long *ranks, size_t n,
                      const struct preflight_use *use);

#endif
