/* SPDX-License-Identifier: Apache-2.0 */
/* programs.h - the programs that nodes offer (docs/reference/programs.md), and what a run
 * makes of them */
#ifndef RINGBENCH_SERVER_NODES_PROGRAMS_H
#define RINGBENCH_SERVER_NODES_PROGRAMS_H

#include <jansson.h>

#include "common/base/buf.h"
#include "common/base/problem.h"
#include "common/spec/run_spec.h"
#include "server/nodes/node.h"

/* The ranks that the node would give the run's program; 0 after appending to *why that it
 * does not offer it, or what is wrong with the arguments or ranks_per_node. */
long program_ranks(const struct node *node, const struct run_spec *spec, struct buf *why);

/* Whether some live node takes the run's arguments, or none offers the program yet. False
 * after adding to *problems what one that offers it says. */
bool program_args_fit(const struct node_registry *registry, const struct run_spec *spec,
                      struct problems *problems);

/* What live nodes offer, a new array: an entry per name and declaration, with the names
 * of its nodes. */
json_t *programs_json(const struct node_registry *registry);

#endif
