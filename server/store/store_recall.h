/* store_recall.h - what a server that starts takes up of the runs that have not ended;
 * see store.h */
#ifndef RINGBENCH_SERVER_STORE_STORE_RECALL_H
#define RINGBENCH_SERVER_STORE_STORE_RECALL_H

#include "server/store/store.h"

/* store_recall_unfinished, of the database at path. */
int store_recall_from(const char *path, store_unfinished_taker *take, void *arg,
                      struct error *err);

/* The documents that a statement selects, at most limit (?1) of them: a new array. */
json_t *store_recall_docs(const char *path, const char *sql, int limit,
                          struct error *err);

#endif
