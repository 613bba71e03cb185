/* SPDX-License-Identifier: Apache-2.0 */
/* run_groups.h - derives the communicators that a run's ranks form */
#ifndef RINGBENCH_SERVER_NODES_RUN_GROUPS_H
#define RINGBENCH_SERVER_NODES_RUN_GROUPS_H

#include <stddef.h>

#include "common/spec/run_spec.h"
#include "common/spec/series.h"
#include "common/spec/split.h"

/* Form groups according to the run's `split`. ranks: number of ranks on each node, in the
 * order of nodes. Release the groups with split_release(). */
void run_groups_form(const struct run_spec *spec, const long *ranks, size_t n_nodes,
                     struct split_groups *out);

/* Set *out to the lists of values whose combinations are the rows of one case. The arrays
 * are borrowed from the spec. */
void run_groups_plan(const struct run_spec *spec, const struct split_groups *groups,
                     struct series_plan *out);

/* Return the number of rows in one case of the run. */
size_t run_groups_rows(const struct run_spec *spec, const struct split_groups *groups);

#endif
