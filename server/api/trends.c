/* trends.c - what runs came to over time */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/spec/collective.h"
#include "server/analysis/compare.h"
#include "server/analysis/likeness.h"
#include "server/analysis/run_values.h"
#include "server/analysis/trend.h"
#include "server/api/handlers.h"
#include "server/api/page_link.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/render/trend_text.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MAX 500
#define REQUESTS_MAX 1000
#define TEXT_MAX ((size_t)64 << 20)

enum form { FORM_JSON, FORM_NDJSON, FORM_CSV, FORM_TEXT };

static const struct params_format formats[] = {
    [FORM_JSON] = {"json", "application/json", FORM_JSON},
    [FORM_NDJSON] = {"ndjson", "application/x-ndjson", FORM_NDJSON},
    [FORM_CSV] = {"csv", "text/csv", FORM_CSV},
    [FORM_TEXT] = {"text", "text/plain", FORM_TEXT},
    {NULL, NULL, 0},
};

/* A request that waits for the store, and then for the answer to be made: on another
 * thread, which has what the store gave for itself. A long page takes a tenth of a
 * second. */
struct asking {
    uv_work_t work;
    struct parked *parked;
    struct trend_figure figure; /* its names are static */
    struct store_trends_query query;
    double margin_percent;
    int64_t requests; /* that are shown together */
    int form;
    json_t *answer; /* the store's */
    struct buf out;
    char *next; /* cursor of the next page, or NULL */
    bool is_failed;
};

/* ---- The question ---- */

/* A name of a table of ours; *number as it is where the parameter is absent. */
static bool read_name(struct http_request *request, const char *name,
                      int (*lookup)(const char *), int *number)
{
    const char *text = http_request_query(request, name);
    int found = text ? lookup(text) : *number;

    if (found >= 0) {
        *number = found;
        return true;
    }
    http_reply_problem(request, 422, NULL, "the parameter %s: there is no %s %s", name,
                       name, text);
    return false;
}

static bool read_figure(struct http_request *request, struct trend_figure *figure)
{
    int collective = COLLECTIVE_ALL_REDUCE, dtype = DTYPE_FLOAT32, band = BAND_BANDWIDTH;

    if (!read_name(request, "collective", collective_lookup, &collective) ||
        !read_name(request, "dtype", dtype_lookup, &dtype) ||
        !read_name(request, "band", band_lookup, &band) ||
        !params_flag(request, "in_place", &figure->in_place))
        return false;
    figure->collective = collective_name((enum collective_kind)collective);
    figure->dtype = dtype_name((enum dtype)dtype);
    figure->band = (enum band)band;
    return true;
}

/* Names as they were given, separated by commas or by repeating the parameter. */
static void add_names(void *arg, const char *value)
{
    json_t *names = arg;

    while (*value) {
        size_t len = strcspn(value, ",");

        if (len > 0)
            json_array_append_new(names, json_stringn(value, len));
        value += len + (value[len] == ',');
    }
}

/* NULL: any nodes, or memory is out. To be freed. */
static char *read_nodes(struct http_request *request)
{
    json_t *names = json_array();
    char *nodes = NULL;

    http_request_query_each(request, "nodes", add_names, names);
    if (json_array_size(names) > 0)
        nodes = run_values_nodes(names);
    json_decref(names);
    return nodes;
}

/* ---- The answer ---- */

static int put_lines(const json_t *answer, struct buf *out)
{
    const json_t *points = json_object_get(answer, "points");
    int result = 0;

    for (size_t i = 0; i < json_array_size(points) && !result; i++)
        result = json_line_append(json_array_get(points, i), out);
    return result;
}

static int (*const writers[])(const json_t *answer, struct buf *out) = {
    [FORM_JSON] = json_line_append,
    [FORM_NDJSON] = put_lines,
    [FORM_CSV] = trend_csv_write,
    [FORM_TEXT] = trend_text_write,
};

/* What the store knows becomes what is shown; -1 when memory is out. */
static int finish_answer(json_t *answer, const struct asking *asking)
{
    json_t *changes = trend_verdicts(
        answer, &asking->figure, asking->margin_percent / 100, (size_t)asking->requests);
    size_t examined = json_array_size(json_object_get(answer, "window"));

    if (!changes)
        return -1;
    json_object_set_new(answer, "changes", changes);
    json_object_set_new(answer, "figure", trend_figure_json(&asking->figure));
    json_object_set_new(answer, "examined", json_integer((json_int_t)examined));
    json_object_del(answer, "window");
    json_object_del(answer, "texts");
    return 0;
}

static void asking_free(struct asking *asking)
{
    json_decref(asking->answer);
    buf_release(&asking->out);
    free(asking->next);
    free(asking);
}

static void make_answer(uv_work_t *work)
{
    struct asking *asking = work->data;
    const char *next = json_get_str(asking->answer, "next", NULL);

    asking->next = next ? strdup(next) : NULL;
    asking->is_failed = (next && !asking->next) ||
                        finish_answer(asking->answer, asking) ||
                        writers[asking->form](asking->answer, &asking->out);
    json_decref(asking->answer);
    asking->answer = NULL;
}

static void reply(struct http_request *request, const struct asking *asking)
{
    static const char *const kept[] = {
        "collective", "dtype", "band",  "in_place",       "nodes",    "run",    "like",
        "backend",    "ranks", "limit", "margin_percent", "requests", "format", NULL};

    if (asking->next)
        page_link_next(request, "cursor", asking->next, kept);
    params_reply(request, 200, &formats[asking->form], &asking->out);
}

static void on_answer(uv_work_t *work, int status)
{
    struct asking *asking = work->data;
    struct http_request *request = parked_take(asking->parked);

    if (request && (status || asking->is_failed))
        http_reply_problem(request, 503, NULL,
                           status ? "the server stops" : "out of memory");
    else if (request)
        reply(request, asking);
    asking_free(asking);
}

static void on_trends(void *arg, const struct error *err, json_t *answer)
{
    static const struct error gone = {ERROR_UNAVAILABLE, "the client is gone"};
    struct asking *asking = arg;

    asking->answer = answer;
    if (err || !asking->parked->request) {
        parked_fail(asking->parked, err ? err : &gone);
        asking_free(asking);
        return;
    }
    asking->work.data = asking;
    uv_queue_work(asking->parked->api->loop, &asking->work, make_answer, on_answer);
}

/* What the request asks for goes to the store, once the run that others are to be like
 * has its values. */
static void ask(void *arg, const struct error *err)
{
    struct asking *asking = arg;
    struct http_request *request = asking->parked->request;
    char figure[LIKENESS_FIGURE_SIZE], *nodes;

    if (err || !request) {
        on_trends(asking, err, NULL);
        return;
    }
    nodes = read_nodes(request);
    likeness_figure(asking->figure.collective, asking->figure.dtype,
                    asking->figure.in_place, asking->figure.band, figure);
    asking->query.figure = figure;
    asking->query.nodes = nodes;
    asking->query.backend = http_request_query(request, "backend");
    asking->query.like = http_request_query(request, "run");
    asking->query.cursor = http_request_query(request, "cursor");
    store_read_trends(asking->parked->api->store, &asking->query, on_trends, asking);
    free(nodes);
}

static bool read_question(struct http_request *request, struct asking *asking)
{
    int64_t limit = LIMIT_DEFAULT, ranks = 0;

    if (!params_format(request, formats, &asking->form) ||
        !read_figure(request, &asking->figure) ||
        !params_integer(request, "limit", 1, LIMIT_MAX, &limit) ||
        !params_integer(request, "ranks", 1, INT32_MAX, &ranks) ||
        !params_real(request, "margin_percent", 0.01, 100, &asking->margin_percent) ||
        !params_integer(request, "requests", 1, REQUESTS_MAX, &asking->requests) ||
        !params_likeness(request, &asking->query.likeness))
        return false;
    asking->query.limit = (int)limit;
    asking->query.world_size = (int)ranks;
    return true;
}

void api_trends(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct asking question = {
        .form = FORM_JSON, .margin_percent = 100 * COMPARE_SAME, .requests = 1};
    struct asking *asking;
    const char *run = http_request_query(request, "run");

    if (!read_question(request, &question))
        return;
    asking = malloc(sizeof(*asking));
    if (!asking) {
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    *asking = question;
    buf_init(&asking->out, TEXT_MAX);
    asking->parked = parked_create(api, request);
    if (!asking->parked)
        free(asking);
    else if (run)
        scheduler_await_values(api->scheduler, run, ask, asking);
    else
        ask(asking, NULL);
}
