/* runs.c - the list of runs, one run, its end and its removal */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "server/finding/verdict.h"
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/plan/follow_up.h"

#define LIST_LIMIT_DEFAULT 50
#define LIST_LIMIT_MAX 500
#define LIST_LABELS_MAX 16
#define LIST_ANSWERS_MAX 32
#define LIST_BYTES_MAX ((size_t)256 << 20)

static const char *const states[] = {"queued",     "launching", "waiting_for_nodes",
                                     "rendezvous", "running",   "completed",
                                     "failed",     "cancelled", NULL};

#define STATES_MAX (sizeof(states) / sizeof(states[0]))

/* By enum store_runs_sort. */
static const char *const sorts[] = {"created", "duration", "figure", NULL};
static const char *const orders[] = {"desc", "asc", NULL};

/* The list's filters as they are gathered. */
struct filters {
    const char *states[STATES_MAX];
    size_t n_states;
    char *labels[LIST_LABELS_MAX]; /* copies, cut at the equals sign */
    const char *values[LIST_LABELS_MAX];
    size_t n_labels;
    const char *answers[LIST_ANSWERS_MAX];
    size_t n_answers;
    const char *bad_state, *bad_label, *bad_answer;
};

static void add_state(void *arg, const char *value)
{
    struct filters *filters = arg;

    for (size_t i = 0; states[i]; i++) {
        if (strcmp(states[i], value) == 0) {
            if (filters->n_states < STATES_MAX)
                filters->states[filters->n_states++] = states[i];
            return;
        }
    }
    filters->bad_state = value;
}

static void add_answer(void *arg, const char *value)
{
    struct filters *filters = arg;

    if (verdict_answer_is_kept(value) && filters->n_answers < LIST_ANSWERS_MAX)
        filters->answers[filters->n_answers++] = value;
    else
        filters->bad_answer = value;
}

static void add_label(void *arg, const char *value)
{
    struct filters *filters = arg;
    char *copy = NULL, *equals = NULL;

    if (filters->n_labels < LIST_LABELS_MAX)
        copy = strdup(value);
    if (copy)
        equals = strchr(copy, '=');
    if (!equals || equals == copy) {
        free(copy);
        filters->bad_label = value;
        return;
    }
    *equals = '\0';
    filters->values[filters->n_labels] = equals + 1;
    filters->labels[filters->n_labels++] = copy;
}

static void release_filters(struct filters *filters)
{
    for (size_t i = 0; i < filters->n_labels; i++)
        free(filters->labels[i]);
}

/* A run that goes on has moved since its text was stored. */
static int append_item(const struct api *api, const json_t *item, struct buf *out)
{
    const char *id = json_get_str(item, "id", "");
    json_t *live = scheduler_run_listed(api->scheduler, id);
    int result = live ? json_append(live, out)
                      : buf_append_str(out, json_get_str(item, "text", ""));

    json_decref(live);
    return result;
}

/* The answer's JSON: texts strung together, since to parse and print them anew would take
 * most of the time of a list. */
static int list_text(const struct api *api, const json_t *result, struct buf *out)
{
    const json_t *item;
    size_t i;

    buf_append_str(out, "{\"runs\":[");
    json_array_foreach (json_object_get(result, "runs"), i, item)
        if ((i > 0 && buf_append_str(out, ",")) || append_item(api, item, out))
            return -1;
    buf_append_str(out, "],\"next\":");
    json_append(json_object_get(result, "next"), out);
    buf_append_str(out, ",\"total\":");
    json_append(json_object_get(result, "total"), out);
    return buf_append_str(out, "}\n");
}

static void reply_list(const struct api *api, struct http_request *request,
                       const json_t *result)
{
    struct buf out;

    buf_init(&out, LIST_BYTES_MAX);
    if (list_text(api, result, &out))
        http_reply_problem(request, 503, NULL,
                           "the list is too long: ask for fewer runs");
    else if (lists_want_json(request))
        http_reply_text(request, 200, "application/json", out.data, out.len);
    else
        lists_reply(request, LIST_RUNS, json_parse(out.data, out.len, NULL));
    buf_release(&out);
}

static void on_list(void *arg, const struct error *err, json_t *result)
{
    struct parked *parked = arg;
    struct api *api = parked->api;
    struct http_request *request = parked_take(parked);

    if (request && err)
        http_reply_error(request, err);
    else if (request)
        reply_list(api, request, result);
    json_decref(result);
}

static bool read_filters(struct http_request *request, struct filters *filters)
{
    http_request_query_each(request, "state", add_state, filters);
    http_request_query_each(request, "label", add_label, filters);
    http_request_query_each(request, "verdict", add_answer, filters);
    if (filters->bad_state)
        http_reply_problem(
            request, 422, NULL,
            "the parameter state must be queued, launching, "
            "waiting_for_nodes, rendezvous, running, completed, failed or cancelled");
    else if (filters->bad_label)
        http_reply_problem(request, 422, NULL,
                           "the parameter label must be KEY=VALUE, at most %d of them",
                           LIST_LABELS_MAX);
    else if (filters->bad_answer)
        http_reply_problem(request, 422, NULL,
                           "the parameter verdict must be an answer of a verdict on runs "
                           "or KIND:ANSWER, such as fail, slow_node or "
                           "preflight:finding, at most %d of them; not %.60s",
                           LIST_ANSWERS_MAX, filters->bad_answer);
    return !filters->bad_state && !filters->bad_label && !filters->bad_answer;
}

/* *value becomes the place of the parameter's word in `words`; false after an answer. */
static bool read_word(struct http_request *request, const char *name,
                      const char *const *words, int *value)
{
    const char *text = http_request_query(request, name);
    char choices[100] = "";

    *value = 0;
    for (int i = 0; text && words[i]; i++) {
        size_t len = strlen(choices);

        if (strcmp(words[i], text) == 0) {
            *value = i;
            return true;
        }
        snprintf(choices + len, sizeof(choices) - len, "%s%s", i ? ", " : "", words[i]);
    }
    if (text)
        http_reply_problem(request, 422, NULL, "the parameter %s must be one of %s", name,
                           choices);
    return !text;
}

static bool read_time(struct http_request *request, const char *name, int64_t *ms)
{
    const char *text = http_request_query(request, name);
    size_t len = text ? strlen(text) : 0;

    if (!text)
        return true;
    *ms = len > 0 && text[len - 1] == 'Z' ? clock_parse_ms(text) : 0;
    if (*ms <= 0)
        http_reply_problem(request, 422, NULL,
                           "the parameter %s must be a time as 2026-01-31T23:59:59.000Z",
                           name);
    return *ms > 0;
}

/* False after an answer. */
static bool read_query(struct http_request *request, struct store_runs_query *query)
{
    int64_t limit = LIST_LIMIT_DEFAULT;
    int sort, order;

    if (!lists_can_reply(request) ||
        !params_integer(request, "limit", 1, LIST_LIMIT_MAX, &limit) ||
        !params_flag(request, "total", &query->has_total) ||
        !params_flag(request, "judged", &query->is_judged) ||
        !read_word(request, "sort", sorts, &sort) ||
        !read_word(request, "order", orders, &order) ||
        !read_time(request, "since", &query->since_ms) ||
        !read_time(request, "until", &query->until_ms))
        return false;
    query->sort = (enum store_runs_sort)sort;
    query->is_rising = order == 1;
    query->text = http_request_query(request, "q");
    query->node = http_request_query(request, "node");
    query->suspect = http_request_query(request, "suspect");
    query->cursor = http_request_query(request, "cursor");
    query->limit = (int)limit;
    return true;
}

void api_run_list(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct filters filters = {.n_states = 0};
    struct store_runs_query query = {.has_total = false};
    struct parked *parked;

    if (read_query(request, &query) && read_filters(request, &filters)) {
        parked = parked_create(api, request);
        query.states = filters.states;
        query.n_states = filters.n_states;
        query.answers = filters.answers;
        query.n_answers = filters.n_answers;
        query.label_keys = (const char *const *)filters.labels;
        query.label_values = filters.values;
        query.n_labels = filters.n_labels;
        if (parked)
            store_read_runs(api->store, &query, on_list, parked);
    }
    release_filters(&filters);
}

static void show(struct api *api, struct http_request *request, json_t *run)
{
    json_t *follow_up = follow_up_of(run);

    (void)api;
    if (follow_up)
        json_object_set_new(run, "follow_up", follow_up);
    http_reply_json(request, 200, json_incref(run));
}

/* A page asks every few seconds for one that goes on. */
void api_run_get(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    const char *id = http_request_param(request, "id");
    size_t len;
    char *text;

    if (!params_type(request, "application/json"))
        return;
    text = scheduler_run_text(api->scheduler, id, &len);
    if (text)
        http_reply_text(request, 200, "application/json", text, len);
    else
        lookup_run(arg, request, id, show);
    free(text);
}

static void show_cancelled(struct api *api, struct http_request *request, json_t *run)
{
    (void)api;
    http_reply_json(request, 202, json_incref(run));
}

/* A run that has ended already needs no more: asking twice is no mistake. */
void api_run_cancel(struct http_request *request, void *arg)
{
    struct api *api = arg;
    const char *id = http_request_param(request, "id");
    struct error err;

    if (!params_type(request, "application/json"))
        return;
    if (scheduler_cancel(api->scheduler, id, &err) && err.code != ERROR_NOT_FOUND)
        http_reply_error(request, &err);
    else
        lookup_run(api, request, id, show_cancelled);
}

static void on_deleted(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct http_request *request = parked_take(arg);

    (void)events;
    (void)n_events;
    if (request && err)
        http_reply_error(request, err);
    else if (request)
        http_reply_empty(request, 204);
}

static void delete_found(struct api *api, struct http_request *request, json_t *run)
{
    static const struct error out_of_memory = {ERROR_MEMORY, "out of memory"};
    const char *id = http_request_param(request, "id");
    struct store_write *write;
    struct parked *parked;

    (void)run;
    if (scheduler_run_is_active(api->scheduler, id)) {
        http_reply_problem(request, 409, NULL,
                           "run %s has not ended; cancel it before deleting it", id);
        return;
    }
    parked = parked_create(api, request);
    if (!parked)
        return;
    write = store_write_create();
    if (!write) {
        parked_fail(parked, &out_of_memory);
        return;
    }
    store_write_delete(write, id); /* a failure fails the submission, which answers */
    store_submit(api->store, write, false, on_deleted, parked);
}

void api_run_delete(struct http_request *request, void *arg)
{
    lookup_id(arg, request, http_request_param(request, "id"), delete_found);
}
