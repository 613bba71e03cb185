/* SPDX-License-Identifier: Apache-2.0 */
/* store_work.h - calls on the store's reader threads, and the reads for them */
#ifndef RINGBENCH_SERVER_STORE_STORE_WORK_H
#define RINGBENCH_SERVER_STORE_STORE_WORK_H

#include <sqlite3.h>

#include "server/store/store_trends.h"

/* Read with the thread's connection and compute. No other thread uses `arg` until it
 * returns. -1 with err on failure. */
typedef int store_work(sqlite3 *db, void *arg, struct error *err);

/* Runs on the loop. err: NULL, or why `work` failed or was not called (ERROR_UNAVAILABLE
 * once the store closes). */
typedef void store_worked(void *arg, const struct error *err);

/* Each kind of read has a thread: one item by its key, the rows of one run, several
 * runs. */
enum store_thread { STORE_KEYED, STORE_LONG, STORE_HEAVY, STORE_THREADS };

/* Queue `work` on the thread of long reads or on the given one, then call `worked` on the
 * loop. Each thread keeps the order of its queue. */
void store_do(struct store *store, store_work *work, store_worked *worked, void *arg);
void store_do_on(struct store *store, enum store_thread thread, store_work *work,
                 store_worked *worked, void *arg);

/* ---- Reads for a store_work: each returns a new object or summary, or NULL with err.
 * ---- */

/* The run's document; ERROR_NOT_FOUND. */
json_t *store_get_run(sqlite3 *db, const char *run, struct error *err);

/* Documents of the latest completed runs without cases, newest first, at most `limit`.
 * Documents over 1 MiB are left out. A new array. */
json_t *store_get_completed(sqlite3 *db, int limit, struct error *err);

/* A page of a run's results; its `next` is where the next page begins. params (borrowed):
 * the run and the parameters of GET /runs/{id}/results; -1 or null: any. */
struct store_events *store_get_rows(sqlite3 *db, const json_t *params, struct error *err);

/* At most `limit` events with id > after, of one type or all (NULL). The type `result`
 * excludes disowned results. A page ends early past 1 MiB, so only an empty page is the
 * last. */
struct store_events *store_get_events(sqlite3 *db, const char *run, int64_t after,
                                      const char *type, int limit, struct error *err);

/* {"runs": [{"id", "text": the JSON that a list shows of it}], "next": cursor or null,
 * "total": {"runs", "is_more"}, or null if not requested}; ERROR_INVALID for a bad
 * cursor. params (taken) are those of GET /runs: "sort" (enum store_runs_sort),
 * "order" (1: ascending), "limit", "cursor", "total", "since" and "until" in
 * milliseconds, "state", "label" (KEY=VALUE; all must match) and "verdict" (ANSWER or
 * KIND:ANSWER) as arrays, "q", "node", "suspect", "judged". A null or absent parameter
 * filters nothing. */
json_t *store_get_runs(sqlite3 *db, json_t *params, struct error *err);

/* Append a page of the output of a run's ranks in the format of the query's `put`. Ends
 * early past 1 MiB. next: the `after` of the next page; 0 if there is none. */
int store_get_logs(sqlite3 *db, const struct store_logs_query *query, struct buf *out,
                   int64_t *next, struct error *err);

/* A node's changes of state, newest first: [{"time","state","detail"}]. */
json_t *store_get_node(sqlite3 *db, const char *node, struct error *err);

/* run: its document, which gives the query's run and cases. */
struct summary *store_get_summary(sqlite3 *db, const json_t *run,
                                  const struct summary_query *query, struct error *err);

#endif
