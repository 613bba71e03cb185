/* summary.c - what a page needs to draw a run without reading its events */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/api/summary_answer.h"

#define TEXT_MAX ((size_t)512 << 20)

/* A request that waits for the store. */
struct wait {
    struct parked *parked;
    json_t *run;
};

static void wait_free(struct wait *wait)
{
    json_decref(wait->run);
    free(wait);
}

json_t *summary_combinations(const json_t *run)
{
    const json_t *described = json_object_get(run, "cases");
    size_t n_cases;
    struct summary_case *cases = summary_cases(run, &n_cases);
    json_t *list = cases ? json_array() : NULL;

    for (size_t i = 0; list && i < n_cases; i++) {
        size_t number = (size_t)cases[i].combination;
        const json_t *c = json_array_get(described, i);

        if (number == json_array_size(list))
            json_array_append_new(list, json_pack("{s:i, s:O?, s:O*, s:[]}",
                                                  "combination", (int)number, "env",
                                                  json_object_get(c, "env"), "nodes",
                                                  json_object_get(c, "nodes"), "cases"));
        json_array_append_new(json_object_get(json_array_get(list, number), "cases"),
                              json_integer((json_int_t)i));
    }
    free(cases);
    return list;
}

static int put_member(struct buf *out, const char *name, const json_t *value)
{
    buf_printf(out, "\"%s\":", name);
    return json_append(value, out) || buf_append_str(out, ",\n") ? -1 : 0;
}

int summary_answer_write(const json_t *run, const struct summary *summary,
                         struct buf *out)
{
    json_t *combinations = summary_combinations(run);
    int result = -1;

    if (buf_append_str(out, "{") == 0 && put_member(out, "run", run) == 0 &&
        put_member(out, "combinations", combinations) == 0 &&
        buf_append_str(out, summary->json) == 0)
        result = buf_append_str(out, "}\n");
    json_decref(combinations);
    return result;
}

static void on_summary(void *arg, const struct error *err, struct summary *summary)
{
    struct wait *wait = arg;
    struct http_request *request = parked_take(wait->parked);
    struct buf out;

    buf_init(&out, TEXT_MAX);
    if (request && err)
        http_reply_error(request, err);
    else if (request && summary_answer_write(wait->run, summary, &out))
        http_reply_problem(request, 503, NULL, "out of memory");
    else if (request)
        http_reply_text(request, 200, "application/json", out.data, out.len);
    buf_release(&out);
    summary_destroy(summary);
    wait_free(wait);
}

static bool read_by(struct http_request *request, enum summary_by *by)
{
    static const char *const names[] = {
        [SUMMARY_BY_COMBINATION] = "combination",
        [SUMMARY_BY_CASE] = "case",
        [SUMMARY_BY_CYCLE] = "cycle",
    };
    const char *text = http_request_query(request, "by");

    *by = SUMMARY_BY_COMBINATION;
    if (!text)
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], text) == 0) {
            *by = (enum summary_by)i;
            return true;
        }
    }
    http_reply_problem(request, 422, NULL,
                       "the parameter by must be one of combination, case, cycle");
    return false;
}

static struct wait *wait_create(struct api *api, struct http_request *request,
                                json_t *run)
{
    struct wait *wait = calloc(1, sizeof(*wait));

    if (!wait) {
        http_reply_problem(request, 503, NULL, "out of memory");
        return NULL;
    }
    wait->run = json_incref(run);
    wait->parked = parked_create(api, request);
    if (!wait->parked) {
        wait_free(wait);
        return NULL;
    }
    return wait;
}

/* The document of a run under way shows events that are still to be published: the
 * summary ends with these. */
static void settled(struct api *api, struct http_request *request, json_t *run)
{
    struct summary_query query = {0};
    int64_t points = SUMMARY_POINTS_DEFAULT;
    struct wait *wait;

    if (!params_integer(request, "points", SUMMARY_POINTS_MIN, SUMMARY_POINTS_MAX,
                        &points) ||
        !read_by(request, &query.by))
        return;
    wait = wait_create(api, request, run);
    if (!wait)
        return;
    query.points = (size_t)points;
    query.up_to = scheduler_head(api->scheduler, json_get_str(run, "id", ""));
    if (query.up_to == 0)
        query.up_to = INT64_MAX;
    store_read_summary(api->store, run, &query, on_summary, wait);
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    lookup_settle(api, request, run, settled);
}

void api_run_summary(struct http_request *request, void *arg)
{
    if (params_type(request, "application/json"))
        lookup_run(arg, request, http_request_param(request, "id"), found);
}
