/* run_values.h - what a run came to: a value for each collective, data type and the like
 * in each band of sizes, the median over its cases, by which it is found in trends */
#ifndef RINGBENCH_SERVER_ANALYSIS_RUN_VALUES_H
#define RINGBENCH_SERVER_ANALYSIS_RUN_VALUES_H

#include <jansson.h>

#include "server/analysis/case_values.h"

/* The values of a run that has ended, as store_write_values takes them. run: its document
 * (docs/reference/api.md). A completed case's value in a band is the geometric mean over
 * the sizes that all cases with the same variables have. The run's value is the level
 * that comparisons and gates take (level.h). A new object. */
json_t *run_values_json(const json_t *run, const struct case_values *values);

/* The nodes as the values name them: sorted, joined by commas. names: an array of
 * strings. The caller frees it. */
char *run_values_nodes(const json_t *names);

#endif
