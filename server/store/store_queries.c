/* store_queries.c - what is asked of the readers */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/store/store_artifacts.h"
#include "server/store/store_read.h"

/* A question with its callback; NULL after the callback heard that memory is out. */
static struct store_read *read_create(enum store_read_kind kind, store_read_done *done,
                                      void *arg)
{
    struct store_read *read = store_read_create(kind);
    struct error err;

    if (!read) {
        error_set(&err, ERROR_MEMORY, "out of memory");
        done(arg, &err, NULL);
        return NULL;
    }
    read->done = done;
    read->arg = arg;
    return read;
}

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

void store_ask(struct store *store, enum store_read_kind kind, json_t *params,
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

static json_t *words_json(const char *const *words, size_t n)
{
    json_t *list = n ? json_array() : json_null();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(words[i]));
    return list;
}

static json_t *labels_json(const struct store_runs_query *query)
{
    json_t *labels = query->n_labels ? json_array() : json_null();

    for (size_t i = 0; i < query->n_labels; i++)
        json_array_append_new(
            labels, json_pack("[s,s]", query->label_keys[i], query->label_values[i]));
    return labels;
}

/* The text as a LIKE pattern that matches it anywhere, its own % and _ being plain. */
static json_t *pattern_json(const char *text)
{
    json_t *pattern = json_null();
    struct buf out;

    if (!text)
        return pattern;
    buf_init(&out, SIZE_MAX);
    buf_append_str(&out, "%");
    for (; *text; text++)
        buf_printf(&out, "%s%c", strchr("%_\\", *text) ? "\\" : "", *text);
    if (buf_append_str(&out, "%") == 0)
        pattern = json_string(out.data);
    buf_release(&out);
    return pattern;
}

static json_t *time_json(int64_t ms)
{
    return ms ? json_integer(ms) : json_null();
}

void store_read_runs(struct store *store, const struct store_runs_query *query,
                     store_read_done *done, void *arg)
{
    json_t *params = json_pack(
        "{s:i, s:b, s:o, s:o, s:o, s:o, s:s?, s:s?, s:o, s:o, s:o, s:b, s:i}", "sort",
        (int)query->sort, "is_rising", (int)query->is_rising, "states",
        words_json(query->states, query->n_states), "answers",
        words_json(query->answers, query->n_answers), "labels", labels_json(query),
        "pattern", pattern_json(query->text), "node", query->node, "suspect",
        query->suspect, "judged", query->is_judged ? json_true() : json_null(),
        "since_ms", time_json(query->since_ms), "until_ms", time_json(query->until_ms),
        "has_total", (int)query->has_total, "limit", query->limit);

    store_ask(store, STORE_READ_RUNS, params, query->cursor, done, arg);
}

void store_read_old(struct store *store, int64_t keep, int64_t created_before_ms,
                    int limit, store_read_done *done, void *arg)
{
    store_ask(store, STORE_READ_OLD,
              json_pack("{s:I, s:I, s:i}", "keep", (json_int_t)keep, "created_before_ms",
                        (json_int_t)created_before_ms, "limit", limit),
              NULL, done, arg);
}

void store_read_run(struct store *store, const char *id, store_read_done *done, void *arg)
{
    struct store_read *read = read_create(STORE_READ_RUN, done, arg);

    if (!read)
        return;
    read->run = store_read_copy(read, id);
    store_submit_read(store, read);
}

/* A question whose answer is a page of events. */
static struct store_read *events_create(enum store_read_kind kind, const char *run,
                                        store_events_done *done, void *arg)
{
    struct store_read *read = store_read_create(kind);
    struct error err;

    if (!read) {
        error_set(&err, ERROR_MEMORY, "out of memory");
        done(arg, &err, NULL);
        return NULL;
    }
    read->events_done = done;
    read->arg = arg;
    read->run = store_read_copy(read, run);
    return read;
}

void store_read_events(struct store *store, const char *run, int64_t after,
                       const char *type, int limit, store_events_done *done, void *arg)
{
    struct store_read *read = events_create(STORE_READ_EVENTS, run, done, arg);

    if (!read)
        return;
    read->type = store_read_copy(read, type);
    read->after = after;
    read->limit = limit;
    store_submit_read(store, read);
}

void store_read_node(struct store *store, const char *node, store_read_done *done,
                     void *arg)
{
    struct store_read *read = read_create(STORE_READ_NODE, done, arg);

    if (!read)
        return;
    read->run = store_read_copy(read, node);
    store_submit_read(store, read);
}

void store_read_logs(struct store *store, const struct store_logs_query *query,
                     store_logs_done *done, void *arg)
{
    struct store_read *read = store_read_create(STORE_READ_LOGS);
    struct error err;

    if (!read) {
        error_set(&err, ERROR_MEMORY, "out of memory");
        done(arg, &err, "", 0, 0);
        return;
    }
    read->logs_done = done;
    read->arg = arg;
    read->run = store_read_copy(read, query->run);
    read->logs_query = *query;
    read->logs_query.run = read->run;
    store_submit_read(store, read);
}

void store_read_rows(struct store *store, const struct store_rows_query *query,
                     store_events_done *done, void *arg)
{
    struct store_read *read = events_create(STORE_READ_ROWS, query->run, done, arg);

    if (!read)
        return;
    read->metric = store_read_copy(read, query->metric);
    read->rows_query = *query;
    read->rows_query.run = read->run;
    read->rows_query.metric = read->metric;
    store_submit_read(store, read);
}

void store_read_summary(struct store *store, const json_t *run,
                        const struct summary_query *query, summary_done *done, void *arg)
{
    struct store_read *read = store_read_create(STORE_READ_SUMMARY);
    struct error err;

    if (!read) {
        error_set(&err, ERROR_MEMORY, "out of memory");
        done(arg, &err, NULL);
        return;
    }
    read->summary_done = done;
    read->arg = arg;
    read->run = store_read_copy(read, json_get_str(run, "id", ""));
    read->summary_query = *query;
    read->cases = summary_cases(run, &read->summary_query.n_cases);
    if (!read->cases)
        store_read_fail(read, ERROR_MEMORY, "out of memory");
    read->summary_query.run = read->run;
    read->summary_query.cases = read->cases;
    store_submit_read(store, read);
}

void store_read_artifacts(struct store *store, const char *run, const char *name,
                          int64_t after, int limit, store_read_done *done, void *arg)
{
    store_ask(store, STORE_READ_ARTIFACTS,
              json_pack("{s:s, s:s?, s:I, s:i}", "run", run, "name", name, "after",
                        (json_int_t)after, "limit", limit),
              NULL, done, arg);
}

void store_read_texts(struct store *store, const struct store_artifact_key *keys,
                      size_t n, store_read_done *done, void *arg)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s?, s:s?, s:s?}", "run", keys[i].run, "digest",
                            keys[i].digest, "node", keys[i].node, "name", keys[i].name));
    store_ask(store, STORE_READ_TEXTS, json_pack("{s:o}", "keys", list), NULL, done, arg);
}

void store_read_case_texts(struct store *store, const char *run, const char *name,
                           int64_t case_no, store_read_done *done, void *arg)
{
    store_ask(store, STORE_READ_TEXTS,
              json_pack("{s:s, s:s, s:I, s:i}", "run", run, "name", name, "case",
                        (json_int_t)case_no, "most", STORE_TEXTS_BYTES),
              NULL, done, arg);
}
