/* SPDX-License-Identifier: Apache-2.0 */
/* run_groups.h - which ranks of a run form communicators together */
#ifndef RINGBENCH_SERVER_NODES_RUN_GROUPS_H
#define RINGBENCH_SERVER_NODES_RUN_GROUPS_H

#include <stddef.h>

#include "common/spec/run_spec.h"
#include "common/spec/series.h"
#include "common/spec/split.h"

/* By the run's split; ranks: how many each node has, in their order. Release the groups
 * with split_release. */
void run_groups_form(const struct run_spec *spec, const long *ranks, size_t n_nodes,
                     struct split_groups *out);

/* What the rows of one case are made of; arrays are the spec's. */
void run_groups_plan(const struct run_spec *spec, const struct split_groups *groups,
                     struct series_plan *out);

/* The rows that one case of such a run has. */
size_t run_groups_rows(const struct run_spec *spec, const struct split_groups *groups);

#endif
