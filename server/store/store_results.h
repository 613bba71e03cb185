/* SPDX-License-Identifier: Apache-2.0 */
/* store_results.h - summaries and pages of results, out of the database */
#ifndef RINGBENCH_SERVER_STORE_STORE_RESULTS_H
#define RINGBENCH_SERVER_STORE_STORE_RESULTS_H

#include <sqlite3.h>

#include "server/store/store.h"
#include "server/summary/summary.h"

/* NULL with err on failure. */
struct summary *summary_read(sqlite3 *db, const struct summary_query *query,
                             struct error *err);

/* What a statement selects that asks for events. A disowned one was a result, and is one
 * in the log. */
#define EVENT_ROW                                                                        \
    "id, events.time_ms, iif(type = 'disowned', 'result', type), body, samples"

/* The event of such a row; its texts are the statement's, until that is stepped.
 * ERROR_INTERNAL when its body is none. */
int event_row_read(sqlite3_stmt *stmt, struct store_event *event, struct error *err);

/* At most the parameter `limit` of the events that such a statement selects, and hardly
 * more than so many bytes of them: `next` is the last if there are more. NULL with err on
 * failure. */
struct store_events *events_read(sqlite3 *db, const char *sql, const json_t *params,
                                 size_t bytes_max, struct error *err);

/* Every result of a run, in the order of events. */
typedef void record_passer(void *arg, const struct result_record *record,
                           const json_t *key);
int records_each(sqlite3 *db, const char *run, record_passer *take, void *arg,
                 struct error *err);

#endif
