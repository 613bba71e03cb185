/* SPDX-License-Identifier: Apache-2.0 */
/* runs_read.h - reads the list of runs from the database */
#ifndef RINGBENCH_SERVER_STORE_RUNS_READ_H
#define RINGBENCH_SERVER_STORE_RUNS_READ_H

#include <jansson.h>

#include "common/base/buf.h"

/* The statement for these parameters (store_get_runs): a page after the cursor (or NULL),
 * or the number of runs. Each reads an index that covers all filters, and the table only
 * for the page's rows. */
void runs_read_page_sql(const json_t *params, struct buf *sql);
void runs_read_total_sql(const json_t *params, struct buf *sql);

#endif
