/* store_results.h - summaries and pages of results, out of the database */
#ifndef RINGBENCH_SERVER_STORE_STORE_RESULTS_H
#define RINGBENCH_SERVER_STORE_STORE_RESULTS_H

#include <sqlite3.h>

#include "server/store/store.h"
#include "server/summary/summary.h"

/* NULL with err on failure. */
struct summary *summary_read(sqlite3 *db, const struct summary_query *query,
                             struct error *err);

/* See store_read_rows; its query as parameters. NULL with err on failure. */
struct store_events *rows_read(sqlite3 *db, const json_t *params, struct error *err);

/* Every result of a run, in the order of events. */
typedef void record_passer(void *arg, const struct result_record *record,
                           const json_t *key);
int records_each(sqlite3 *db, const char *run, record_passer *take, void *arg,
                 struct error *err);

#endif
