/* trends.c - what runs came to over time */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/spec/collective.h"
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
#define TEXT_MAX ((size_t)64 << 20)

enum form { FORM_JSON, FORM_NDJSON, FORM_CSV, FORM_TEXT };

static const struct params_format formats[] = {
    {"json", "application/json", FORM_JSON},
    {"ndjson", "application/x-ndjson", FORM_NDJSON},
    {"csv", "text/csv", FORM_CSV},
    {"text", "text/plain", FORM_TEXT},
    {NULL, NULL, 0},
};

static const char *const form_types[] = {
    [FORM_JSON] = "application/json",
    [FORM_NDJSON] = "application/x-ndjson",
    [FORM_CSV] = "text/csv; charset=utf-8",
    [FORM_TEXT] = "text/plain; charset=utf-8",
};

/* A request that waits for the store. */
struct asking {
    struct parked *parked;
    struct trend_figure figure; /* its names are static */
    struct store_trends_query query;
    int form;
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

    for (size_t i = 0; i < json_array_size(points) && !result; i++) {
        char *text = json_text(json_array_get(points, i));

        result = text ? buf_printf(out, "%s\n", text) : -1;
        free(text);
    }
    return result;
}

static int put_json(const json_t *answer, struct buf *out)
{
    char *text = json_text(answer);
    int result = text ? buf_printf(out, "%s\n", text) : -1;

    free(text);
    return result;
}

static int (*const writers[])(const json_t *answer, struct buf *out) = {
    [FORM_JSON] = put_json,
    [FORM_NDJSON] = put_lines,
    [FORM_CSV] = trend_csv_write,
    [FORM_TEXT] = trend_text_write,
};

/* What the store knows becomes what is shown; -1 when memory is out. */
static int finish_answer(json_t *answer, const struct trend_figure *figure)
{
    json_t *changes = trend_verdicts(answer, figure);
    size_t examined = json_array_size(json_object_get(answer, "window"));

    if (!changes)
        return -1;
    json_object_set_new(answer, "changes", changes);
    json_object_set_new(answer, "figure", trend_figure_json(figure));
    json_object_set_new(answer, "examined", json_integer((json_int_t)examined));
    json_object_del(answer, "window");
    json_object_del(answer, "texts");
    return 0;
}

static void reply(struct http_request *request, const struct asking *asking,
                  json_t *answer)
{
    static const char *const kept[] = {"collective", "dtype", "band",   "in_place",
                                       "nodes",      "run",   "like",   "backend",
                                       "ranks",      "limit", "format", NULL};
    const char *next = json_get_str(answer, "next", NULL);
    struct buf out;

    buf_init(&out, TEXT_MAX);
    if (finish_answer(answer, &asking->figure) || writers[asking->form](answer, &out)) {
        http_reply_problem(request, 503, NULL, "out of memory");
    } else {
        if (next)
            page_link_next(request, "cursor", next, kept);
        http_reply_text(request, 200, form_types[asking->form], out.len ? out.data : "",
                        out.len);
    }
    buf_release(&out);
}

static void on_trends(void *arg, const struct error *err, json_t *answer)
{
    struct asking *asking = arg;
    struct http_request *request = parked_take(asking->parked);

    if (request && err)
        http_reply_error(request, err);
    else if (request)
        reply(request, asking, answer);
    json_decref(answer);
    free(asking);
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
        !params_likeness(request, &asking->query.likeness))
        return false;
    asking->query.limit = (int)limit;
    asking->query.world_size = (int)ranks;
    return true;
}

void api_trends(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct asking question = {.form = FORM_JSON}, *asking;
    const char *run = http_request_query(request, "run");

    if (!read_question(request, &question))
        return;
    asking = malloc(sizeof(*asking));
    if (!asking) {
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    *asking = question;
    asking->parked = parked_create(api, request);
    if (!asking->parked)
        free(asking);
    else if (run)
        value_keeper_ensure(api->keeper, run, ask, asking);
    else
        ask(asking, NULL);
}
