/* compare.c - how one run, or some of its cases, does against another */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/compare_json.h"
#include "server/api/baseline_find.h"
#include "server/api/handlers.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/api/run_set.h"
#include "server/render/compare_text.h"

#define ASKS_MAX ((RUN_SET_MAX - STORE_HISTORY) / 2) /* runs and cases, of a side */
#define BASELINE "baseline" /* in the place of a run; no run's id is so short */
#define TEXT_MAX ((size_t)64 << 20)

enum form { FORM_JSON, FORM_CSV, FORM_MARKDOWN, FORM_TEXT };

static const struct params_format formats[] = {
    [FORM_JSON] = {"json", "application/json", FORM_JSON},
    [FORM_CSV] = {"csv", "text/csv", FORM_CSV},
    [FORM_MARKDOWN] = {"markdown", "text/markdown", FORM_MARKDOWN},
    [FORM_TEXT] = {"text", "text/plain", FORM_TEXT},
    {NULL, NULL, 0},
};

struct ask {
    size_t run; /* index */
    int case_no;
};

struct side {
    const char *name, *env_name; /* parameters */
    struct ask asks[ASKS_MAX];
    size_t n;
    json_t *env;
    bool is_baseline; /* whichever the other side is like */
    bool is_alike;    /* and of it the cases with the other side's variables */
};

struct comparison {
    uv_work_t work;
    struct api *api;
    struct parked *parked;
    int form;
    struct run_set set;
    struct side base, head;
    struct side history; /* further runs like base's */
    struct store_base_query like;
    double margin; /* 0: as head's spec says */
    struct buf out;
    char answer[32];
    struct error err; /* of the work */
};

static void comparison_free(struct comparison *comparison)
{
    run_set_release(&comparison->set);
    json_decref(comparison->base.env);
    json_decref(comparison->head.env);
    buf_release(&comparison->out);
    free(comparison);
}

/* Answer, if there is still someone to answer, and free. */
static void finish(struct comparison *comparison, const struct error *err)
{
    struct http_request *request = parked_take(comparison->parked);

    comparison->api->comparisons--;
    if (request && err && err->code == ERROR_INVALID)
        http_reply_problem(request, 422, NULL, "%s", err->text);
    else if (request && err)
        http_reply_error(request, err);
    else if (request) {
        http_reply_header(request, "Ringbench-Verdict", comparison->answer);
        params_reply(request, 200, &formats[comparison->form], &comparison->out);
    }
    comparison_free(comparison);
}

/* ---- The comparison itself, on the work queue ---- */

static int write_document(struct comparison *comparison, const json_t *document)
{
    const json_t *verdict = json_object_get(document, "verdict");
    static int (*const writers[])(const json_t *document, struct buf *out) = {
        [FORM_JSON] = json_line_append,
        [FORM_CSV] = compare_csv,
        [FORM_MARKDOWN] = compare_markdown,
        [FORM_TEXT] = compare_text,
    };

    snprintf(comparison->answer, sizeof(comparison->answer), "%s",
             json_get_str(verdict, "answer", ""));
    if (writers[comparison->form](document, &comparison->out) == 0)
        return 0;
    return error_set(&comparison->err, ERROR_MEMORY, "out of memory");
}

static int choose(struct comparison *comparison, const struct side *from,
                  struct compare_side *side)
{
    struct compare_ask asks[ASKS_MAX];

    for (size_t i = 0; i < from->n; i++)
        asks[i] = (struct compare_ask){&comparison->set.runs[from->asks[i].run],
                                       from->asks[i].case_no};
    side->name = from->name;
    return compare_side_choose(side, asks, from->n, from->env, &comparison->err);
}

static double margin_of(const struct comparison *comparison)
{
    size_t first = comparison->head.asks[0].run;

    return comparison->margin > 0 ? comparison->margin
                                  : compare_margin_of(comparison->set.runs[first].doc);
}

static void do_compare(uv_work_t *work)
{
    struct comparison *comparison = work->data;
    struct compare_side base = {0}, head = {0}, history = {0};
    json_t *document;

    if (choose(comparison, &comparison->base, &base) == 0 &&
        choose(comparison, &comparison->head, &head) == 0 &&
        (comparison->history.n == 0 ||
         choose(comparison, &comparison->history, &history) == 0) &&
        compare_sides_check(&base, &head, &comparison->err) == 0) {
        if (comparison->base.is_alike)
            compare_side_keep_alike(&base, &head);
        compare_side_keep_alike(&history, &base);
        document = compare_json(
            &(struct compare_question){&base, &head, &history, margin_of(comparison)},
            &comparison->err);
        if (document)
            write_document(comparison, document);
        json_decref(document);
    }
    compare_side_release(&base);
    compare_side_release(&head);
    compare_side_release(&history);
}

static void on_compared(uv_work_t *work, int status)
{
    struct comparison *comparison = work->data;

    if (status < 0)
        error_set(&comparison->err, ERROR_UNAVAILABLE, "the server stops");
    finish(comparison, comparison->err.code ? &comparison->err : NULL);
}

static void on_read(void *arg, const struct error *err)
{
    struct comparison *comparison = arg;

    if (err)
        finish(comparison, err);
    else
        uv_queue_work(comparison->api->loop, &comparison->work, do_compare, on_compared);
}

/* ---- A baseline ---- */

static void take_runs(struct comparison *comparison, const json_t *runs,
                      struct side *side)
{
    json_t *id;
    size_t i;

    json_array_foreach (runs, i, id) {
        const char *text = json_string_value(id);

        if (text && side->n < ASKS_MAX)
            side->asks[side->n++] =
                (struct ask){run_set_add(&comparison->set, text, strlen(text)), -1};
    }
}

static void on_baseline(void *arg, const struct error *err, json_t *found)
{
    struct comparison *comparison = arg;
    const char *run = comparison->like.run;
    struct error none;

    if (!err) {
        if (comparison->base.is_baseline)
            take_runs(comparison, json_object_get(found, "runs"), &comparison->base);
        take_runs(comparison, json_object_get(found, "history"), &comparison->history);
    }
    json_decref(found);
    if (!err && comparison->base.n == 0) {
        error_set(&none, ERROR_NOT_FOUND,
                  comparison->like.last
                      ? "no completed run before run %s is like it"
                      : "run %s is like no baseline: accept one with POST "
                        "/api/v1/baselines, or compare with the runs before it by last=N",
                  run);
        err = &none;
    }
    if (err)
        finish(comparison, err);
    else
        run_set_read(&comparison->set, comparison->api, on_read, comparison);
}

/* One run against another: further runs like base's say how runs scatter. */
static bool needs_history(const struct comparison *comparison)
{
    const struct side *base = &comparison->base, *head = &comparison->head;

    return comparison->set.n == 2 && base->asks[0].run != head->asks[0].run;
}

/* ---- What is asked for ---- */

struct reading {
    struct comparison *comparison;
    struct side *side;
    struct error err;
};

/* RUN or RUN:CASE. */
static void take_ask(void *arg, const char *value)
{
    struct reading *reading = arg;
    struct side *side = reading->side;
    size_t len = strcspn(value, ":");
    int64_t case_no = -1;

    if (reading->err.code)
        return;
    if (strcmp(value, BASELINE) == 0 && side == &reading->comparison->base) {
        side->is_baseline = true;
        return;
    }
    if (len == 0 || len > ID_RUN_LENGTH ||
        (value[len] &&
         params_parse_integer(value + len + 1, 0, INT32_MAX - 1, &case_no))) {
        error_set(&reading->err, ERROR_INVALID,
                  "the parameter %s must be a run's id or RUN:CASE, not %.80s",
                  side->name, value);
        return;
    }
    if (side->n == ASKS_MAX) {
        error_set(&reading->err, ERROR_INVALID,
                  "the parameter %s may be given %d times at most", side->name, ASKS_MAX);
        return;
    }
    side->asks[side->n++] =
        (struct ask){run_set_add(&reading->comparison->set, value, len), (int)case_no};
}

/* NAME=VALUE; NAME alone is not set. */
static void take_env(void *arg, const char *value)
{
    struct reading *reading = arg;
    const char *equals = strchr(value, '=');
    size_t len = equals ? (size_t)(equals - value) : strlen(value);
    char name[256];

    if (len == 0 || len >= sizeof(name)) {
        error_set(&reading->err, ERROR_INVALID,
                  "the parameter %s must be NAME=VALUE, or NAME of what is not set",
                  reading->side->env_name);
        return;
    }
    memcpy(name, value, len);
    name[len] = '\0';
    json_object_set_new(reading->side->env, name,
                        equals ? json_string(equals + 1) : json_null());
}

static int read_side(struct comparison *comparison, const struct http_request *request,
                     struct side *side, struct error *err)
{
    struct reading reading = {.comparison = comparison, .side = side};

    side->env = json_object();
    http_request_query_each(request, side->name, take_ask, &reading);
    http_request_query_each(request, side->env_name, take_env, &reading);
    *err = reading.err;
    return reading.err.code ? -1 : 0;
}

/* What head is like is looked for later; by default with the same variables. */
static int read_baseline(struct comparison *comparison, struct error *err)
{
    struct side *base = &comparison->base, *head = &comparison->head;

    if (base->n > 0 || head->n == 0)
        return error_set(err, ERROR_INVALID,
                         "base=baseline stands alone, and needs head: a run's id");
    base->is_alike = json_object_size(base->env) == 0;
    comparison->like.run = comparison->set.parts[head->asks[0].run].id;
    return 0;
}

static int read_sides(struct comparison *comparison, const struct http_request *request,
                      struct error *err)
{
    struct side *base = &comparison->base, *head = &comparison->head;

    base->name = "base";
    base->env_name = "base_env";
    head->name = "head";
    head->env_name = "head_env";
    if (read_side(comparison, request, base, err) ||
        read_side(comparison, request, head, err))
        return -1;
    if (base->is_baseline)
        return read_baseline(comparison, err);
    if (base->n == 0)
        return error_set(
            err, ERROR_INVALID,
            "the parameter base is needed: a run's id, RUN:CASE or baseline");
    /* Two combinations of one run: it need not be said twice. */
    if (head->n == 0) {
        memcpy(head->asks, base->asks, sizeof(head->asks));
        head->n = base->n;
    }
    return 0;
}

static struct comparison *comparison_create(struct api *api, int form)
{
    struct comparison *comparison = calloc(1, sizeof(*comparison));

    if (!comparison)
        return NULL;
    comparison->api = api;
    comparison->form = form;
    comparison->work.data = comparison;
    comparison->history.name = "history";
    buf_init(&comparison->out, TEXT_MAX);
    return comparison;
}

void api_compare(struct http_request *request, void *arg)
{
    struct store_base_query like = {0};
    struct api *api = arg;
    struct comparison *comparison;
    struct error err;
    double percent = 0;
    int form;

    if (!params_format(request, formats, &form) || !params_base(request, &like) ||
        !params_real(request, "margin_percent", 0.01, 100, &percent))
        return;
    if (!run_set_may(api, request))
        return;
    comparison = comparison_create(api, form);
    if (!comparison) {
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    comparison->like = like;
    comparison->margin = percent / 100;
    if (read_sides(comparison, request, &err)) {
        http_reply_problem(request, 422, NULL, "%s", err.text);
        comparison_free(comparison);
        return;
    }
    comparison->parked = parked_create(api, request);
    if (!comparison->parked) {
        comparison_free(comparison);
        return;
    }
    api->comparisons++;
    if (needs_history(comparison)) {
        comparison->like.last = 0;
        comparison->like.run = comparison->set.parts[comparison->head.asks[0].run].id;
        comparison->like.base = comparison->set.parts[comparison->base.asks[0].run].id;
    }
    if (comparison->base.is_baseline || comparison->like.base)
        baseline_find(api, &comparison->like, on_baseline, comparison);
    else
        run_set_read(&comparison->set, api, on_read, comparison);
}
