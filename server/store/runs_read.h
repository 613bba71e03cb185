/* runs_read.h - the list of runs, out of the database */
#ifndef RINGBENCH_SERVER_STORE_RUNS_READ_H
#define RINGBENCH_SERVER_STORE_RUNS_READ_H

#include "common/base/buf.h"
#include "server/store/store_read.h"

/* The statement for these parameters (store_read_runs): a page, or how many runs there
 * are. Each reads an index that has every column which is filtered by, and of the table
 * the rows of the page alone. */
void runs_read_page_sql(const json_t *params, struct buf *sql);
void runs_read_total_sql(const json_t *params, struct buf *sql);

#endif
