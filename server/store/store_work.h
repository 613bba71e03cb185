/* SPDX-License-Identifier: Apache-2.0 */
/* store_work.h - runs functions on the store's reader threads, and declares the reads
 * that such functions use */
#ifndef RINGBENCH_SERVER_STORE_STORE_WORK_H
#define RINGBENCH_SERVER_STORE_STORE_WORK_H

#include <sqlite3.h>

#include "server/store/store_trends.h"

/* Read with the thread's connection and compute. No other thread uses `arg` until it
 * returns. -1 with err on failure. */
typedef int store_work(sqlite3 *db, void *arg, struct error *err);

/* Runs on the loop. err: NULL on success; otherwise the reason why `work` failed or was
 * not called (ERROR_UNAVAILABLE once the store closes). */
typedef void store_worked(void *arg, const struct error *err);

/* The reader threads, by kind of read: one item by its key, the rows of one run, or
 * several runs. */
enum store_thread { STORE_KEYED, STORE_LONG, STORE_HEAVY, STORE_THREADS };

/* Queue `work`, then call `worked` on the loop. store_do() uses the thread of long reads,
 * store_do_on() the given thread. Each thread keeps the order of its queue. */
void store_do(struct store *store, store_work *work, store_worked *worked, void *arg);
void store_do_on(struct store *store, enum store_thread thread, store_work *work,
                 store_worked *worked, void *arg);

/* ---- Reads for a store_work: each returns a new object or summary, or NULL with err.
 * ---- */

/* Return the run's document; ERROR_NOT_FOUND if there is no such run. */
json_t *store_get_run(sqlite3 *db, const char *run, struct error *err);

/* Return documents of the latest completed runs without their cases, newest first, at
 * most `limit`. Documents over 1 MiB are skipped. A new array. */
json_t *store_get_completed(sqlite3 *db, int limit, struct error *err);

/* Return a page of a run's results; `next` is the position of the next page. params
 * (borrowed): the run and the parameters of GET /runs/{id}/results; -1 or null: any. */
struct store_events *store_get_rows(sqlite3 *db, const json_t *params, struct error *err);

/* Return at most `limit` events with id > after, of one type or of all types (NULL). The
 * type `result` excludes disowned results. A page ends early after 1 MiB, so only an
 * empty page means that there are no more events. */
struct store_events *store_get_events(sqlite3 *db, const char *run, int64_t after,
                                      const char *type, int limit, struct error *err);

/* {"runs": [{"id", "text": the run's JSON in a list}], "next": cursor or null, "total":
 * {"runs", "is_more"}, or null if not requested}; ERROR_INVALID for a bad cursor. params
 * (taken) are those of GET /runs: "sort" (enum store_runs_sort), "order" (1: ascending),
 * "limit", "cursor", "total", "since" and "until" in milliseconds, "state", "label"
 * (KEY=VALUE; all must match) and "verdict" (ANSWER or KIND:ANSWER) as arrays, "q",
 * "node", "suspect", "judged". A null or absent parameter filters nothing. */
json_t *store_get_runs(sqlite3 *db, json_t *params, struct error *err);

/* Append a page of the output of a run's ranks in the format of the query's `put`. Ends
 * early past 1 MiB. next: the `after` of the next page; 0 if there is none. */
int store_get_logs(sqlite3 *db, const struct store_logs_query *query, struct buf *out,
                   int64_t *next, struct error *err);

/* Return a node's changes of state, newest first: [{"time","state","detail"}]. */
json_t *store_get_node(sqlite3 *db, const char *node, struct error *err);

/* Return a summary of the run's results. run: the run's document, from which the query's
 * run and cases are set. */
struct summary *store_get_summary(sqlite3 *db, const json_t *run,
                                  const struct summary_query *query, struct error *err);

#endif
