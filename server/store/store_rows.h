/* SPDX-License-Identifier: Apache-2.0 */
/* store_rows.h - returns the rows of a statement as JSON objects. Members are named like
 * the columns. A column NAME:json contains JSON. The value of a column ":text" or ":json"
 * replaces the row's object. */
#ifndef RINGBENCH_SERVER_STORE_STORE_ROWS_H
#define RINGBENCH_SERVER_STORE_STORE_ROWS_H

#include <jansson.h>
#include <sqlite3.h>

#include "common/base/error.h"

/* SQL expression that formats a time in milliseconds as in the API. */
#define SQL_TIME(MS) "strftime('%Y-%m-%dT%H:%M:%fZ', " MS " / 1000.0, 'unixepoch')"

/* Return all rows without the column `next`. A new array; NULL with err on failure. */
json_t *store_rows(sqlite3 *db, const char *sql, const json_t *params, struct error *err);

/* Return the JSON in the first row's only column, or null if there is no row. A new
 * reference; NULL with err on failure. */
json_t *store_value(sqlite3 *db, const char *sql, const json_t *params,
                    struct error *err);

/* Return one page of a list, newest first: {list: rows, "next": cursor or null}. The
 * statement must select one row more than the parameter `limit`. It gets the position of
 * `cursor` (NULL: before the newest row) as before_ms, before_id and, for trend values,
 * before_like. Each row must contain its position as `next`: "MS:ID" or "MS:ID.LIKE".
 * ERROR_INVALID for a malformed cursor. params: taken. */
json_t *store_page(sqlite3 *db, const char *list, const char *sql, json_t *params,
                   const char *cursor, struct error *err);

#endif
