/* trends_queries.c - what is asked of the reader about values and baselines */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/store/store_read.h"
#include "server/store/store_trends.h"

/* Behind which row a page begins: its time and its id, which comes last in time. That of
 * a value is its run and the number of its likeness. */
static void begin_page(struct store_read *read, const char *cursor)
{
    char *dot;

    read->limit = (int)json_get_int(read->params, "limit", -1);
    store_read_begin(read, cursor);
    dot = read->before_id ? strchr(read->before_id, '.') : NULL;
    if (dot) {
        json_object_set_new(read->params, "before_like", json_integer(atoll(dot + 1)));
        *dot = '\0';
    }
    json_object_set_new(read->params, "before_ms", json_integer(read->before_ms));
    json_object_set_new(read->params, "before_id", json_string(read->before_id));
}

/* params: taken. */
static void ask(struct store *store, enum store_read_kind kind, json_t *params,
                const char *cursor, store_read_done *done, void *arg)
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
    begin_page(read, cursor);
    store_submit_read(store, read);
}

void store_read_due(struct store *store, const char *run, size_t skip,
                    store_read_done *done, void *arg)
{
    ask(store, STORE_READ_DUE,
        json_pack("{s:s?, s:I}", "run", run, "skip", (json_int_t)skip), NULL, done, arg);
}

void store_read_trends(struct store *store, const struct store_trends_query *query,
                       store_read_done *done, void *arg)
{
    json_t *params =
        json_pack("{s:s, s:s?, s:s?, s:s?, s:s, s:i, s:i, s:i}", "figure", query->figure,
                  "nodes", query->nodes, "backend", query->backend, "like", query->like,
                  "likeness", run_likeness_names[query->likeness], "world_size",
                  query->world_size, "limit", query->limit, "before_like", 0);

    ask(store, STORE_READ_TRENDS, params, query->cursor, done, arg);
}

void store_read_baselines(struct store *store, const struct store_baselines_query *query,
                          store_read_done *done, void *arg)
{
    json_t *params =
        json_pack("{s:s?, s:s?, s:b, s:i}", "id", query->id, "run", query->run,
                  "has_removed", (int)query->has_removed, "limit", query->limit);

    ask(store, STORE_READ_BASELINES, params, query->cursor, done, arg);
}

void store_read_base(struct store *store, const struct store_base_query *query,
                     store_read_done *done, void *arg)
{
    ask(store, STORE_READ_BASE,
        json_pack("{s:s, s:i, s:s}", "run", query->run, "last", query->last, "likeness",
                  run_likeness_names[query->likeness]),
        NULL, done, arg);
}
