/* SPDX-License-Identifier: Apache-2.0 */
/* runs_read.h - the list of runs, out of the database */
#ifndef RINGBENCH_SERVER_STORE_RUNS_READ_H
#define RINGBENCH_SERVER_STORE_RUNS_READ_H

#include <jansson.h>

#include "common/base/buf.h"

/* The statement for these parameters (store_get_runs): a page behind the cursor (or
 * NULL), or how many runs there are. Each reads an index that has every column which is
 * filtered by, and of the table the rows of the page alone. */
void runs_read_page_sql(const json_t *params, struct buf *sql);
void runs_read_total_sql(const json_t *params, struct buf *sql);

#endif
