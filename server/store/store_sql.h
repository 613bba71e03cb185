/* SPDX-License-Identifier: Apache-2.0 */
/* store_sql.h - opens the database file, creates the schema, prepares statements, and
 * reports SQLite's errors */
#ifndef RINGBENCH_SERVER_STORE_STORE_SQL_H
#define RINGBENCH_SERVER_STORE_STORE_SQL_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

/* The states of runs that have ended. */
#define STORE_SQL_ENDED "('completed', 'failed', 'cancelled')"

/* Open the database at `path`, which is created if it does not exist. The connection may
 * be used by one thread at a time. */
int store_sql_open(const char *path, sqlite3 **db, struct error *err);

/* Return -1 with err if the file belongs to another program, or its schema to another
 * version. *is_new: the file is empty. */
int store_sql_check_owner(sqlite3 *db, const char *path, bool *is_new, struct error *err);

/* Check the file's owner, switch the file to WAL mode, and create the tables if it is
 * new. A refused file is not modified. */
int store_sql_set_up(sqlite3 *db, const char *path, struct error *err);

/* Prepare sql[0..n) into stmts[0..n). On failure no statement stays prepared. */
int store_sql_prepare(sqlite3 *db, const char *const *sql, size_t n, sqlite3_stmt **stmts,
                      struct error *err);
void store_sql_finalize(sqlite3_stmt **stmts, size_t n);

/* Run statements that return nothing. Returns SQLite's result code. */
int store_sql_exec(sqlite3 *db, const char *sql);

/* Bind a text without copying it: the text must live until the statement is reset. NULL
 * is bound as SQL NULL. */
int store_sql_bind_text(sqlite3_stmt *stmt, int index, const char *text);

/* Bind each parameter :NAME to the member NAME: texts, numbers and booleans directly,
 * arrays and objects as JSON text, absent members as NULL. Texts are not copied. Returns
 * SQLite's result code. */
int store_sql_bind_json(sqlite3_stmt *stmt, const json_t *params);

/* Run a statement to its first row or its end, and reset it. Returns SQLITE_OK in both
 * cases, else SQLite's code. */
int store_sql_step(sqlite3_stmt *stmt);

/* Call `take` for each row of a statement, with parameters as in store_sql_bind_json().
 * If `take` returns other than 0, stop and return that value. Returns -1 with err if the
 * statement fails. */
typedef int store_sql_row(void *arg, sqlite3_stmt *stmt);
int store_sql_each(sqlite3 *db, const char *sql, const json_t *params,
                   store_sql_row *take, void *arg, struct error *err);

/* Return the text of a column, "" for NULL; valid until the statement is stepped. */
const char *store_sql_text(sqlite3_stmt *stmt, int column);

/* Return the JSON of a column, a new reference; NULL if the text is not JSON. err may be
 * NULL. */
json_t *store_sql_json(sqlite3_stmt *stmt, int column, struct error *err);

/* True if SQLite's code means that the disk, memory or another process caused the
 * failure, so that the same statement may succeed later. */
bool store_sql_is_environment(int rc);

/* True if the file is damaged or its disk fails, which is permanent. Other I/O errors
 * concern locks, shared memory or a full disk. */
bool store_sql_is_damage(int rc);

/* Set *err to "what: " and the connection's last error. Returns -1. */
int store_sql_error(struct error *err, sqlite3 *db, const char *what);

#endif
