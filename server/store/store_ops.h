/* SPDX-License-Identifier: Apache-2.0 */
/* store_ops.h - executes the operations of a write as SQL statements. Used by the
 * writer's thread within its transactions. */
#ifndef RINGBENCH_SERVER_STORE_STORE_OPS_H
#define RINGBENCH_SERVER_STORE_STORE_OPS_H

#include <sqlite3.h>

#include "common/base/error.h"
#include "server/store/store_write.h"

struct store_ops;

/* Prepare the statements. db is borrowed. Returns NULL with err on failure. */
struct store_ops *store_ops_create(sqlite3 *db, struct error *err);
void store_ops_destroy(struct store_ops *ops);

/* Execute an operation and return SQLite's code. SQLITE_CONSTRAINT and its extended codes
 * mean that the operation itself is invalid; store_ops_error() then describes the error.
 * If the operation appends an event, the event's ID is set. */
int store_ops_apply(struct store_ops *ops, struct store_op *op);
void store_ops_error(struct store_ops *ops, const struct store_op *op, int rc,
                     struct error *err);

/* If STORE_VALUES_VERSION has changed, mark the values of all ended runs as due
 * (store_trends.h). */
int store_ops_renew_values(sqlite3 *db, struct error *err);

#endif
