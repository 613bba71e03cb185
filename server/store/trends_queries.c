/* trends_queries.c - what is asked of the reader about values and baselines */
#include <stdlib.h>
#include <string.h>

#include "server/store/store_reader.h"
#include "server/store/store_trends.h"

/* params: taken. */
static void ask(struct store *store, enum store_read_kind kind, json_t *params,
                store_read_done *done, void *arg)
{
    struct store_read *read = store_read_create(kind);
    struct error err;

    if (!read || !params) {
        json_decref(params);
        store_read_destroy(read);
        error_set(&err, ERROR_MEMORY, "out of memory");
        done(arg, &err, NULL);
        return;
    }
    read->params = params;
    read->done = done;
    read->arg = arg;
    if (json_is_false(json_object_get(params, "cursor")))
        store_read_fail(read, ERROR_INVALID, "the cursor is not one of this server");
    store_submit_read(store, read);
}

/* Behind which row a page begins: its time and its id, which comes last in time. A cursor
 * that is none leaves a mark. */
static void set_cursor(json_t *params, const char *cursor)
{
    char id[STORE_CURSOR_ID_MAX + 1] = "";
    int64_t before_ms = INT64_MAX;

    if (cursor && store_cursor_parse(cursor, &before_ms, id) < 0)
        json_object_set_new(params, "cursor", json_false());
    json_object_set_new(params, "before_ms", json_integer(before_ms));
    json_object_set_new(params, "before_id", json_string(id));
}

void store_read_due(struct store *store, const char *run, size_t skip,
                    store_read_done *done, void *arg)
{
    ask(store, STORE_READ_DUE,
        json_pack("{s:s?, s:I}", "run", run, "skip", (json_int_t)skip), done, arg);
}

/* The id of a value in a cursor is its run and the number of its likeness. */
static void split_value_id(json_t *params)
{
    const char *id = json_string_value(json_object_get(params, "before_id"));
    const char *dot = id ? strchr(id, '.') : NULL;

    if (!dot)
        return;
    json_object_set_new(params, "before_like", json_integer(atoll(dot + 1)));
    json_object_set_new(params, "before_id", json_stringn(id, (size_t)(dot - id)));
}

void store_read_trends(struct store *store, const struct store_trends_query *query,
                       store_read_done *done, void *arg)
{
    json_t *params =
        json_pack("{s:s, s:s?, s:s?, s:s?, s:s, s:i, s:i, s:i}", "figure", query->figure,
                  "nodes", query->nodes, "backend", query->backend, "like", query->like,
                  "likeness", run_likeness_names[query->likeness], "world_size",
                  query->world_size, "limit", query->limit, "before_like", 0);

    set_cursor(params, query->cursor);
    split_value_id(params);
    ask(store, STORE_READ_TRENDS, params, done, arg);
}

void store_read_baselines(struct store *store, const struct store_baselines_query *query,
                          store_read_done *done, void *arg)
{
    json_t *params =
        json_pack("{s:s?, s:s?, s:b, s:i}", "id", query->id, "run", query->run,
                  "has_removed", (int)query->has_removed, "limit", query->limit);

    set_cursor(params, query->cursor);
    ask(store, STORE_READ_BASELINES, params, done, arg);
}

void store_read_base(struct store *store, const struct store_base_query *query,
                     store_read_done *done, void *arg)
{
    ask(store, STORE_READ_BASE,
        json_pack("{s:s, s:i, s:s}", "run", query->run, "last", query->last, "likeness",
                  run_likeness_names[query->likeness]),
        done, arg);
}
