/* SPDX-License-Identifier: Apache-2.0 */
/* store_work.h - functions of the store's callers on its threads of reads, and what they
 * read there */
#ifndef RINGBENCH_SERVER_STORE_STORE_WORK_H
#define RINGBENCH_SERVER_STORE_STORE_WORK_H

#include <sqlite3.h>

#include "server/store/store_trends.h"

/* Reads with the thread's connection and computes; shares `arg` with no other thread
 * until it returns. -1 with err on failure. */
typedef int store_work(sqlite3 *db, void *arg, struct error *err);

/* On the loop. err: NULL, or why `work` failed or was not called: ERROR_UNAVAILABLE once
 * the store closes. */
typedef void store_worked(void *arg, const struct error *err);

/* By what is read or computed: something by its key, the rows of a run, several runs. */
enum store_thread { STORE_KEYED, STORE_LONG, STORE_HEAVY, STORE_THREADS };

/* Call `work` on the thread of long reads, or on that one, behind what was asked of it
 * before, then `worked`. */
void store_do(struct store *store, store_work *work, store_worked *worked, void *arg);
void store_do_on(struct store *store, enum store_thread thread, store_work *work,
                 store_worked *worked, void *arg);

/* ---- Within such a call: a new object or summary, or NULL with err. ---- */

/* The run's document; ERROR_NOT_FOUND. */
json_t *store_get_run(sqlite3 *db, const char *run, struct error *err);

/* Documents of the latest runs that completed, newest first, at most limit, without cases
 * and leaving out huge ones. A new array. */
json_t *store_get_completed(sqlite3 *db, int limit, struct error *err);

/* A page of a run's results, which says where the next one begins. params (borrowed): the
 * run and those of GET /runs/{id}/results; -1 or null: any. */
struct store_events *store_get_rows(sqlite3 *db, const json_t *params, struct error *err);

/* Events with id > after, of one type or all (NULL), at most limit; of the type `result`
 * those that were not disowned. Stops early past 1 MiB; there may be more unless there is
 * none. */
struct store_events *store_get_events(sqlite3 *db, const char *run, int64_t after,
                                      const char *type, int limit, struct error *err);

/* {"runs": [{"id", "text": the JSON that a list shows of it}], "next": cursor or null,
 * "total": {"runs", "is_more"}, or null where it was not asked for}; ERROR_INVALID for a
 * bad cursor. params (taken) are those of GET /runs: "sort" (enum store_runs_sort),
 * "order" (1: the least first), "limit", "cursor", "total", "since" and "until" in
 * milliseconds, "state", "label" (KEY=VALUE; all must match) and "verdict" (ANSWER or
 * KIND:ANSWER) as arrays, "q", "node", "suspect", "judged". What is null or absent lets
 * every run through. */
json_t *store_get_runs(sqlite3 *db, json_t *params, struct error *err);

/* Append a page of what a run's ranks printed, as the query's `put` writes it. Ends early
 * past 1 MiB. next: the `after` of the next page, 0 when there is none. */
int store_get_logs(sqlite3 *db, const struct store_logs_query *query, struct buf *out,
                   int64_t *next, struct error *err);

/* [{"time","state","detail"}], newest first, of a node. */
json_t *store_get_node(sqlite3 *db, const char *node, struct error *err);

/* run: its document, which says what the query's run and cases are. */
struct summary *store_get_summary(sqlite3 *db, const json_t *run,
                                  const struct summary_query *query, struct error *err);

#endif
