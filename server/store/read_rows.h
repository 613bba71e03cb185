/* read_rows.h - the rows of a statement into the answer of a question */
#ifndef RINGBENCH_SERVER_STORE_READ_ROWS_H
#define RINGBENCH_SERVER_STORE_READ_ROWS_H

#include <sqlite3.h>

#include "server/store/store_read.h"

/* Call `take` for each row, until the read has failed. */
typedef void read_row_taker(struct store_read *read, sqlite3_stmt *stmt);
void read_each_row(sqlite3 *db, struct store_read *read, const char *sql,
                   const json_t *params, read_row_taker *take);

/* Append to a list of the answer (item: taken). */
void read_append(struct store_read *read, const char *list, json_t *item);

#endif
