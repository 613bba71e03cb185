/* SPDX-License-Identifier: Apache-2.0 */
/* programs.h - lists the programs that nodes offer (docs/reference/programs.md), and
 * checks runs against them */
#ifndef RINGBENCH_SERVER_NODES_PROGRAMS_H
#define RINGBENCH_SERVER_NODES_PROGRAMS_H

#include <jansson.h>

#include "common/base/buf.h"
#include "common/base/problem.h"
#include "common/spec/run_spec.h"
#include "server/nodes/node.h"

/* Return the number of the node's ranks for the run's program. If the program is not
 * offered, or its arguments or ranks_per_node are invalid, append the reason to *why and
 * return 0. */
long program_ranks(const struct node *node, const struct run_spec *spec, struct buf *why);

/* Return true if a live node accepts the run's arguments, or if no live node offers the
 * program. Otherwise add the errors from a node that offers it to *problems and return
 * false. */
bool program_args_fit(const struct node_registry *registry, const struct run_spec *spec,
                      struct problems *problems);

/* Return the programs that live nodes offer as a new array, with one entry for each
 * distinct declaration. Each entry lists the names of its nodes. */
json_t *programs_json(const struct node_registry *registry);

#endif
