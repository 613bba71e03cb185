/* SPDX-License-Identifier: Apache-2.0 */
/* store_recall.h - reads runs and their logs when the server starts; see store.h */
#ifndef RINGBENCH_SERVER_STORE_STORE_RECALL_H
#define RINGBENCH_SERVER_STORE_STORE_RECALL_H

#include "server/store/store.h"

/* Like store_recall_runs(), for the database at `path`. */
int store_recall_from(const char *path, bool has_ended, store_run_taker *take, void *arg,
                      struct error *err);

/* Return the documents that a statement selects, at most `limit` (its parameter :limit).
 * A new array. */
json_t *store_recall_docs(const char *path, const char *sql, int limit,
                          struct error *err);

#endif
