/* store_read.c - a question to the database, and its answer */
#include "server/store/store_read.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/store/store_sql.h"

struct store_read *store_read_create(store_read_answer *answer, json_t *params)
{
    struct store_read *read = memory_zeroed(1, sizeof(*read), "a query");

    if (!params)
        store_read_fail(read, ERROR_INVALID, "a parameter is no valid UTF-8");
    read->answer = answer;
    read->params = params;
    read->limit = (int)json_get_int(params, "limit", -1);
    return read;
}

void store_read_destroy(struct store_read *read)
{
    if (!read)
        return;
    json_decref(read->result);
    store_events_destroy(read->events);
    json_decref(read->params);
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
    return store_read_finish(db, store_read_create(answer, params), err);
}

json_t *store_read_finish(sqlite3 *db, struct store_read *read, struct error *err)
{
    json_t *result;

    if (!read->is_failed)
        read->answer(db, read);
    result = read->is_failed ? NULL : json_incref(read->result);
    *err = read->err;
    store_read_destroy(read);
    return result;
}

size_t store_read_bytes(const struct store_read *read)
{
    return read->events ? read->events->bytes : 0;
}

bool store_read_ends_page(struct store_read *read)
{
    if (read->limit < 0 || ++read->count <= (size_t)read->limit)
        return false;
    json_object_set_new(read->result, "next",
                        json_sprintf("%lld:%s", (long long)read->page_ms, read->page_id));
    return true;
}

struct passing {
    struct store_read *read;
    read_row_taker *take;
};

static int pass_row(void *arg, sqlite3_stmt *stmt)
{
    const struct passing *passing = arg;

    passing->take(passing->read, stmt);
    return passing->read->is_failed || store_read_bytes(passing->read) >= TEXT_SOFT_MAX;
}

void read_each_row(sqlite3 *db, struct store_read *read, const char *sql,
                   const json_t *params, read_row_taker *take)
{
    struct passing passing = {read, take};

    if (store_sql_each(db, sql, params, pass_row, &passing, &read->err) < 0)
        read->is_failed = true;
}

int event_row_read(sqlite3_stmt *stmt, struct store_event *event, struct error *err)
{
    *event = (struct store_event){
        .id = sqlite3_column_int64(stmt, 0),
        .time_ms = sqlite3_column_int64(stmt, 1),
        .type = (const char *)sqlite3_column_text(stmt, 2),
        .body = (const char *)sqlite3_column_text(stmt, 3),
        .body_len = (size_t)sqlite3_column_bytes(stmt, 3),
        .samples = (const char *)sqlite3_column_text(stmt, 4),
        .samples_len = (size_t)sqlite3_column_bytes(stmt, 4),
    };
    if (!event->type || !event->body || event->body_len < 2 || event->body[0] != '{')
        return error_set(err, ERROR_INTERNAL, "a stored event cannot be read");
    return 0;
}

void read_append(struct store_read *read, const char *list, json_t *item)
{
    json_t *array = list ? json_object_get(read->result, list) : read->result;

    if (json_array_append_new(array, item) < 0)
        store_read_fail(read, ERROR_INTERNAL, "a stored text is no valid UTF-8");
}
