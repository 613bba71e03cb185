/* SPDX-License-Identifier: Apache-2.0 */
/* unmatched.h - explains which filters of a run match no node, and lists the existing
 * values */
#ifndef RINGBENCH_SERVER_NODES_UNMATCHED_H
#define RINGBENCH_SERVER_NODES_UNMATCHED_H

#include "common/base/buf.h"
#include "common/spec/run_spec.h"
#include "server/nodes/node.h"

/* Explain why a spec's selector matches no live node. The filters are nodes.group and
 * each of nodes.labels. For each filter without a match, append a clause that begins with
 * "; " and lists the existing values. If each filter matches some nodes, append that no
 * node matches all filters. */
void unmatched_explain(const struct run_spec *spec, const struct node_registry *registry,
                       struct buf *out);

/* Append a similar clause that names the jobs whose live nodes would match if they were
 * not exclusive to the runs that started the jobs. */
void unmatched_explain_launched(const struct run_spec *spec,
                                const struct node_registry *registry, struct buf *out);

#endif
