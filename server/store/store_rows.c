/* SPDX-License-Identifier: Apache-2.0 */
/* store_rows.c - returns the rows of a statement as JSON */
#include "server/store/store_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/store/store_sql.h"

#define CURSOR_ID_MAX 64
#define NAME_SIZE 32

struct rows {
    json_t *list;
    size_t most;      /* maximum number of rows; 0: no limit */
    json_t *position; /* position of the last row, or NULL */
    bool has_more;
    struct error *err;
};

/* Texts were checked for UTF-8 when they were stored, so they are not checked again. */
static json_t *column_json(sqlite3_stmt *stmt, int column, struct error *err)
{
    const char *name = sqlite3_column_name(stmt, column), *kind = strchr(name, ':');
    int type = sqlite3_column_type(stmt, column);

    if (type == SQLITE_NULL)
        return json_null();
    if (kind && strcmp(kind, ":json") == 0)
        return store_sql_json(stmt, column, err);
    if (type == SQLITE_INTEGER)
        return json_integer(sqlite3_column_int64(stmt, column));
    if (type == SQLITE_FLOAT)
        return json_real(sqlite3_column_double(stmt, column));
    return json_string_nocheck(store_sql_text(stmt, column));
}

static json_t *row_json(struct rows *rows, sqlite3_stmt *stmt)
{
    json_t *row = json_object();

    for (int i = 0; i < sqlite3_column_count(stmt) && row; i++) {
        const char *name = sqlite3_column_name(stmt, i);
        json_t *value = column_json(stmt, i, rows->err);

        if (!value || *name == ':') {
            json_decref(row);
            row = value;
        } else if (strcmp(name, "next") == 0) {
            json_decref(rows->position);
            rows->position = value;
        } else {
            char member[NAME_SIZE] = "";

            strncat(member, name, strcspn(name, ":"));
            json_object_set_new_nocheck(row, member, value);
        }
    }
    return row;
}

static int take_row(void *arg, sqlite3_stmt *stmt)
{
    struct rows *rows = arg;

    rows->has_more = rows->most > 0 && json_array_size(rows->list) == rows->most;
    if (rows->has_more)
        return 1;
    return json_array_append_new(rows->list, row_json(rows, stmt));
}

static int read_rows(sqlite3 *db, const char *sql, const json_t *params,
                     struct rows *rows)
{
    rows->list = json_array();
    if (!params)
        return error_set(rows->err, ERROR_INVALID, "a parameter is not valid UTF-8");
    return store_sql_each(db, sql, params, take_row, rows, rows->err) < 0 ? -1 : 0;
}

json_t *store_rows(sqlite3 *db, const char *sql, const json_t *params, struct error *err)
{
    struct rows rows = {.err = err};
    int result = read_rows(db, sql, params, &rows);

    json_decref(rows.position);
    if (!result)
        return rows.list;
    json_decref(rows.list);
    return NULL;
}

static int take_value(void *arg, sqlite3_stmt *stmt)
{
    struct rows *rows = arg;

    json_decref(rows->list);
    rows->list = store_sql_json(stmt, 0, rows->err);
    return rows->list ? 1 : -1;
}

json_t *store_value(sqlite3 *db, const char *sql, const json_t *params, struct error *err)
{
    struct rows rows = {.list = json_null(), .err = err};

    if (store_sql_each(db, sql, params, take_value, &rows, err) >= 0)
        return rows.list;
    json_decref(rows.list);
    return NULL;
}

/* Parse a cursor. Returns -1 if the text is not a cursor of this server. */
static int parse_cursor(const char *text, int64_t *ms, char *id)
{
    char *end;

    errno = 0;
    *ms = strtoll(text, &end, 10);
    if (errno || end == text || *end != ':' || strlen(end + 1) > CURSOR_ID_MAX)
        return -1;
    memcpy(id, end + 1, strlen(end + 1) + 1);
    return 0;
}

/* Set the position after which a page begins: a time, and an id among rows with the same
 * time. The id of a trend value consists of its run and the number of its likeness. */
static int begin_page(json_t *params, const char *cursor, struct error *err)
{
    char id[CURSOR_ID_MAX + 1] = "", *dot;
    int64_t before_ms = INT64_MAX;

    if (cursor && parse_cursor(cursor, &before_ms, id))
        return error_set(err, ERROR_INVALID,
                         "the cursor is invalid: use \"next\" of the previous page");
    dot = strchr(id, '.');
    json_object_set_new(params, "before_like", json_integer(dot ? atoll(dot + 1) : 0));
    if (dot)
        *dot = '\0';
    json_object_set_new(params, "before_ms", json_integer(before_ms));
    json_object_set_new(params, "before_id", json_string(id));
    return 0;
}

json_t *store_page(sqlite3 *db, const char *list, const char *sql, json_t *params,
                   const char *cursor, struct error *err)
{
    struct rows rows = {.most = (size_t)json_get_int(params, "limit", 0), .err = err};
    json_t *page = NULL;

    if (!begin_page(params, cursor, err) && !read_rows(db, sql, params, &rows))
        page = json_pack("{s:O, s:o}", list, rows.list, "next",
                         rows.has_more ? json_incref(rows.position) : json_null());
    json_decref(rows.list);
    json_decref(rows.position);
    json_decref(params);
    return page;
}
