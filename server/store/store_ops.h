/* SPDX-License-Identifier: Apache-2.0 */
/* store_ops.h - the SQL of each operation of a write. The writer's thread calls it within
 * its transactions. */
#ifndef RINGBENCH_SERVER_STORE_STORE_OPS_H
#define RINGBENCH_SERVER_STORE_STORE_OPS_H

#include <sqlite3.h>

#include "common/base/error.h"
#include "server/store/store_write.h"

struct store_ops;

/* db is borrowed. NULL with err on failure. */
struct store_ops *store_ops_create(sqlite3 *db, struct error *err);
void store_ops_destroy(struct store_ops *ops);

/* Returns SQLite's code. SQLITE_CONSTRAINT and its kinds mean that the operation itself
 * is at fault; store_ops_error then describes it. An event gets its id. */
int store_ops_apply(struct store_ops *ops, struct store_op *op);
void store_ops_error(struct store_ops *ops, const struct store_op *op, int rc,
                     struct error *err);

/* If STORE_VALUES_VERSION has changed, mark all ended runs as due (store_trends.h). */
int store_ops_renew_values(sqlite3 *db, struct error *err);

#endif
