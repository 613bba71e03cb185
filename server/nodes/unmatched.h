/* SPDX-License-Identifier: Apache-2.0 */
/* unmatched.h - what the filters of a run leave nothing of, and what there is */
#ifndef RINGBENCH_SERVER_NODES_UNMATCHED_H
#define RINGBENCH_SERVER_NODES_UNMATCHED_H

#include "common/base/buf.h"
#include "common/spec/run_spec.h"
#include "server/nodes/node.h"

/* Of a spec whose selector picks no live node: append a clause that begins with "; " for
 * each filter (nodes.group, each of nodes.labels) that none matches, with the values that
 * there are, or one that they match none together. */
void unmatched_explain(const struct run_spec *spec, const struct node_registry *registry,
                       struct buf *out);

/* Append a clause of the same form that names the jobs whose live nodes the selector
 * would pick, if they were not of the runs that the jobs were started for. */
void unmatched_explain_launched(const struct run_spec *spec,
                                const struct node_registry *registry, struct buf *out);

#endif
