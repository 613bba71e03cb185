/* SPDX-License-Identifier: Apache-2.0 */
/* store_rows.h - what a statement selects, as JSON: each row an object whose members have
 * the names of the columns. A column NAME:json has JSON, and a column ":text" or ":json"
 * is the row itself. */
#ifndef RINGBENCH_SERVER_STORE_STORE_ROWS_H
#define RINGBENCH_SERVER_STORE_STORE_ROWS_H

#include <jansson.h>
#include <sqlite3.h>

#include "common/base/error.h"

/* For SQL: a column of milliseconds as the API shows times. */
#define SQL_TIME(MS) "strftime('%Y-%m-%dT%H:%M:%fZ', " MS " / 1000.0, 'unixepoch')"

/* All rows; a new array, NULL with err on failure. A column `next` is left out. */
json_t *store_rows(sqlite3 *db, const char *sql, const json_t *params, struct error *err);

/* The JSON that the first row has in its only column; null: there is no row. A new
 * reference, NULL with err on failure. */
json_t *store_value(sqlite3 *db, const char *sql, const json_t *params,
                    struct error *err);

/* {list: rows, "next": cursor or null}: one page of a list, newest first, of at most the
 * parameter `limit` rows, of which the statement selects one more. The page starts after
 * `cursor`, or with the newest row if that is NULL: the statement gets the position as
 * before_ms, before_id and, if it has one, before_like, and each row has it as `next`,
 * "MS:ID" or "MS:ID.LIKE". ERROR_INVALID for a malformed cursor. params: taken. */
json_t *store_page(sqlite3 *db, const char *list, const char *sql, json_t *params,
                   const char *cursor, struct error *err);

#endif
