/* read_rows.c - the rows of a statement into the answer of a question */
#include "server/store/read_rows.h"

#include "server/store/store_sql.h"

void read_each_row(sqlite3 *db, struct store_read *read, const char *sql,
                   const json_t *params, read_row_taker *take)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = store_sql_bind_json(stmt, params);
    for (rc = rc == SQLITE_OK ? sqlite3_step(stmt) : rc;
         rc == SQLITE_ROW && !read->is_failed; rc = sqlite3_step(stmt))
        take(read, stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE && !read->is_failed) {
        read->is_failed = true;
        store_sql_error(&read->err, db, "cannot read");
    }
    sqlite3_finalize(stmt);
}

void read_append(struct store_read *read, const char *list, json_t *item)
{
    if (json_array_append_new(json_object_get(read->result, list), item) < 0)
        store_read_fail(read, ERROR_MEMORY, "out of memory");
}
