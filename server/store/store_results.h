/* SPDX-License-Identifier: Apache-2.0 */
/* store_results.h - reads summaries and pages of results from the database */
#ifndef RINGBENCH_SERVER_STORE_STORE_RESULTS_H
#define RINGBENCH_SERVER_STORE_STORE_RESULTS_H

#include <sqlite3.h>

#include "server/store/store.h"
#include "server/summary/summary.h"

/* Return a summary of a run's results; NULL with err on failure. */
struct summary *summary_read(sqlite3 *db, const struct summary_query *query,
                             struct error *err);

/* Columns of a statement that selects events. A disowned event appears with its original
 * type `result`. */
#define EVENT_ROW                                                                        \
    "id, events.time_ms, iif(type = 'disowned', 'result', type), body, samples"

/* Read an event from a row with the columns EVENT_ROW. Its texts are valid until the
 * statement is stepped. ERROR_INTERNAL if the body is not an object. */
int event_row_read(sqlite3_stmt *stmt, struct store_event *event, struct error *err);

/* Return the events that a statement with EVENT_ROW selects: at most the parameter
 * `limit`, ending with the event that reaches bytes_max. If there are more, `next` is the
 * last event's id. NULL with err on failure. */
struct store_events *events_read(sqlite3 *db, const char *sql, const json_t *params,
                                 size_t bytes_max, struct error *err);

/* Call `take` for every result of a run, in the order of events. */
typedef void record_passer(void *arg, const struct result_record *record,
                           const json_t *key);
int records_each(sqlite3 *db, const char *run, record_passer *take, void *arg,
                 struct error *err);

#endif
