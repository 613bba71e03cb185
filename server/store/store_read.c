/* store_read.c - a question to the database, and its answer */
#include "server/store/store_read.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/store/store_sql.h"

#define TEXT_MAX ((size_t)1 << 30) /* SQLite's own limit of a value */

struct store_read *store_read_create(store_read_answer *answer, json_t *params, void *arg)
{
    struct store_read *read = calloc(1, sizeof(*read));

    if (!read)
        memory_out("a query");
    if (!params)
        store_read_fail(read, ERROR_INVALID, "a parameter is no valid UTF-8");
    read->answer = answer;
    read->params = params;
    read->limit = (int)json_get_int(params, "limit", -1);
    read->arg = arg;
    buf_init(&read->text, TEXT_MAX);
    return read;
}

void store_read_destroy(struct store_read *read)
{
    if (!read)
        return;
    free(read->cases);
    summary_destroy(read->summary);
    json_decref(read->result);
    store_events_destroy(read->events);
    json_decref(read->params);
    buf_release(&read->text);
    free(read);
}

void store_read_fail(struct store_read *read, enum error_code code, const char *text)
{
    if (read->is_failed)
        return;
    read->is_failed = true;
    error_set(&read->err, code, "%s", text);
}

json_t *store_answer(sqlite3 *db, store_read_answer *answer, json_t *params,
                     struct error *err)
{
    struct store_read *read = store_read_create(answer, params, NULL);
    json_t *result;

    if (!read->is_failed)
        answer(db, read);
    result = read->is_failed ? NULL : json_incref(read->result);
    *err = read->err;
    store_read_destroy(read);
    return result;
}

size_t store_read_bytes(const struct store_read *read)
{
    return read->text.len + (read->events ? read->events->bytes : 0);
}

bool store_read_ends_page(struct store_read *read)
{
    char cursor[STORE_CURSOR_TEXT_MAX];

    if (read->limit < 0 || ++read->count <= (size_t)read->limit)
        return false;
    if (store_cursor_format(read->page_ms, read->page_id, cursor) < 0)
        store_read_fail(read, ERROR_INTERNAL, "a stored id is too long");
    json_object_set_new(read->result, "next", json_string(cursor));
    return true;
}

void read_each_row(sqlite3 *db, struct store_read *read, const char *sql,
                   const json_t *params, read_row_taker *take)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = store_sql_bind_json(stmt, params);
    for (rc = rc == SQLITE_OK ? sqlite3_step(stmt) : rc; rc == SQLITE_ROW;
         rc = sqlite3_step(stmt)) {
        take(read, stmt);
        if (read->is_failed || store_read_bytes(read) >= TEXT_SOFT_MAX)
            break;
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE && !read->is_failed) {
        read->is_failed = true;
        store_sql_error(&read->err, db, "cannot read");
    }
    sqlite3_finalize(stmt);
}

void read_append(struct store_read *read, const char *list, json_t *item)
{
    json_t *array = list ? json_object_get(read->result, list) : read->result;

    if (json_array_append_new(array, item) < 0)
        store_read_fail(read, ERROR_INTERNAL, "a stored text is no valid UTF-8");
}
