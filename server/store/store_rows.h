/* SPDX-License-Identifier: Apache-2.0 */
/* store_rows.h - the rows of a statement as JSON objects whose members are named like the
 * columns. A column NAME:json contains JSON. A column ":text" or ":json" becomes the row
 * itself. */
#ifndef RINGBENCH_SERVER_STORE_STORE_ROWS_H
#define RINGBENCH_SERVER_STORE_STORE_ROWS_H

#include <jansson.h>
#include <sqlite3.h>

#include "common/base/error.h"

/* For SQL: a column of milliseconds in the API's format of time. */
#define SQL_TIME(MS) "strftime('%Y-%m-%dT%H:%M:%fZ', " MS " / 1000.0, 'unixepoch')"

/* All rows; a new array, NULL with err on failure. A column `next` is left out. */
json_t *store_rows(sqlite3 *db, const char *sql, const json_t *params, struct error *err);

/* The JSON in the first row's only column; null if there is no row. A new reference; NULL
 * with err on failure. */
json_t *store_value(sqlite3 *db, const char *sql, const json_t *params,
                    struct error *err);

/* One page of a list, newest first: {list: rows, "next": cursor or null}. The statement
 * selects one row more than the parameter `limit`. It gets the position of `cursor`
 * (NULL: before the newest row) as before_ms, before_id and, for trend values,
 * before_like. Each row contains its position as `next`: "MS:ID" or "MS:ID.LIKE".
 * ERROR_INVALID for a malformed cursor. params: taken. */
json_t *store_page(sqlite3 *db, const char *list, const char *sql, json_t *params,
                   const char *cursor, struct error *err);

#endif
