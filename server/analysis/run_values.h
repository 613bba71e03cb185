/* SPDX-License-Identifier: Apache-2.0 */
/* run_values.h - computes the values of a run for trends: the median over its cases, for
 * each collective, data type and so on, in each band of sizes */
#ifndef RINGBENCH_SERVER_ANALYSIS_RUN_VALUES_H
#define RINGBENCH_SERVER_ANALYSIS_RUN_VALUES_H

#include <jansson.h>

#include "server/analysis/case_values.h"

/* Return the values of a run that has ended as a new object for store_write_values().
 * run: the run's document (docs/reference/api.md). A completed case's value in a band is
 * the geometric mean over the sizes that all cases with the same variables have. The
 * run's value is the level that comparisons and gates use (level.h). */
json_t *run_values_json(const json_t *run, const struct case_values *values);

/* Return the node names sorted and joined by commas, the format that the values use.
 * names: an array of strings. The caller frees the result. */
char *run_values_nodes(const json_t *names);

#endif
