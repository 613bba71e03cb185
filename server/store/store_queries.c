/* store_queries.c - what is asked of the readers */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
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

/* A JSON array as text, consuming it. */
static char *take_json(struct store_read *read, json_t *array)
{
    char *text = array ? json_dumps(array, JSON_COMPACT) : NULL;

    json_decref(array);
    if (!text)
        store_read_fail(read, ERROR_INVALID, "a filter is not valid UTF-8");
    return text;
}

static json_t *states_json(const struct store_runs_query *query)
{
    json_t *states = json_array();

    for (size_t i = 0; i < query->n_states; i++)
        json_array_append_new(states, json_string(query->states[i]));
    if (json_array_size(states) == query->n_states)
        return states;
    json_decref(states);
    return NULL;
}

static json_t *labels_json(const struct store_runs_query *query)
{
    json_t *labels = json_array();

    for (size_t i = 0; i < query->n_labels; i++)
        json_array_append_new(
            labels, json_pack("[s,s]", query->label_keys[i], query->label_values[i]));
    if (json_array_size(labels) == query->n_labels)
        return labels;
    json_decref(labels);
    return NULL;
}

/* The text as a LIKE pattern that matches it anywhere, its own % and _ being plain. */
static char *like_pattern(struct store_read *read, const char *text)
{
    char *pattern = malloc(2 * strlen(text) + 3);
    char *at = pattern;

    if (!pattern) {
        store_read_fail(read, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    *at++ = '%';
    for (; *text; text++) {
        if (*text == '%' || *text == '_' || *text == '\\')
            *at++ = '\\';
        *at++ = *text;
    }
    *at++ = '%';
    *at = '\0';
    return pattern;
}

void store_read_runs(struct store *store, const struct store_runs_query *query,
                     store_read_done *done, void *arg)
{
    struct store_read *read = read_create(STORE_READ_RUNS, done, arg);

    if (!read)
        return;
    read->limit = query->limit;
    store_read_begin(read, query->cursor);
    if (query->n_states)
        read->states = take_json(read, states_json(query));
    if (query->n_labels)
        read->labels = take_json(read, labels_json(query));
    if (query->text)
        read->pattern = like_pattern(read, query->text);
    read->node = store_read_copy(read, query->node);
    store_submit_read(store, read);
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
