/* store_chunks.h - the records of a run's results (result_record.h) in the database, in
 * chunks beside the events: the writer's side. Belongs to the writer's thread and is part
 * of its transactions. */
#ifndef RINGBENCH_SERVER_STORE_STORE_CHUNKS_H
#define RINGBENCH_SERVER_STORE_STORE_CHUNKS_H

#include <sqlite3.h>

#include "common/base/error.h"
#include "server/summary/result_record.h"

#define STORE_CHUNK_RECORDS 64

struct store_chunks;

/* db is borrowed. NULL with err on failure. */
struct store_chunks *store_chunks_create(sqlite3 *db, struct error *err);
void store_chunks_destroy(struct store_chunks *chunks);

/* Take a record whose event is in the transaction; event and key are set here. Returns
 * SQLite's code. */
int store_chunks_add(struct store_chunks *chunks, const char *run, int64_t event,
                     const char *key, struct result_record *record);

/* Drop the records of a case, the latest of its run, whose results then are no `result`
 * to any query, though the events say what they said. Returns SQLite's code. */
int store_chunks_disown(struct store_chunks *chunks, const char *run, int case_no);

/* Write what was taken: the last step before a commit. */
int store_chunks_flush(struct store_chunks *chunks);

/* The transaction was rolled back, or (with a run) the run was deleted: what is known of
 * all runs, or of this one, holds no more. */
void store_chunks_forget(struct store_chunks *chunks, const char *run);

#endif
