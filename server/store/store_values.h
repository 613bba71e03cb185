/* store_values.h - values of runs and baselines (store_trends.h) in the database: the
 * writer's side. Belongs to the writer's thread and is part of its transactions. */
#ifndef RINGBENCH_SERVER_STORE_STORE_VALUES_H
#define RINGBENCH_SERVER_STORE_STORE_VALUES_H

#include <sqlite3.h>

#include "common/base/error.h"
#include "server/store/store_write.h"

struct store_values;

/* db is borrowed. NULL with err on failure. */
struct store_values *store_values_create(sqlite3 *db, struct error *err);
void store_values_destroy(struct store_values *values);

/* All return SQLite's code; what an operation's own fault is comes as
 * SQLITE_CONSTRAINT. */
int store_values_apply(struct store_values *values, const struct store_op *op);

/* Before a run's row is written: one that comes to its end is due. */
int store_values_note_end(struct store_values *values, const char *run,
                          const char *state);

/* Before a run is deleted: SQLITE_CONSTRAINT while it is a baseline. */
int store_values_allow_delete(struct store_values *values, const char *run);

/* Have all runs due if their values were made in another way. */
int store_values_renew(sqlite3 *db, struct error *err);

#endif
