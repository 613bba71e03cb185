/* SPDX-License-Identifier: Apache-2.0 */
/* runs_read.h - reads the list of runs from the database */
#ifndef RINGBENCH_SERVER_STORE_RUNS_READ_H
#define RINGBENCH_SERVER_STORE_RUNS_READ_H

#include <jansson.h>

#include "common/base/buf.h"

/* Append the SQL statement for the parameters of store_get_runs(). The first statement
 * reads a page after the cursor (may be NULL), and the second counts the runs. Both
 * search an index that covers all filters. Only the page's rows are read from the table.
 */
void runs_read_page_sql(const json_t *params, struct buf *sql);
void runs_read_total_sql(const json_t *params, struct buf *sql);

#endif
