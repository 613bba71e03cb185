/* store_work.h - functions of the store's callers on its thread of long reads, and what
 * they read there */
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

/* Call `work` on the thread, behind what was asked of it before, then `worked`. */
void store_do(struct store *store, store_work *work, store_worked *worked, void *arg);

/* ---- Within such a call: a new object or summary, or NULL with err. ---- */

/* As store_read_run, store_read_due and store_read_base. */
json_t *store_get_run(sqlite3 *db, const char *run, struct error *err);
json_t *store_get_due(sqlite3 *db, const char *run, size_t skip, struct error *err);
json_t *store_get_base(sqlite3 *db, const struct store_base_query *query,
                       struct error *err);

/* As store_read_summary; run: the run's document. */
struct summary *store_get_summary(sqlite3 *db, const json_t *run,
                                  const struct summary_query *query, struct error *err);

#endif
