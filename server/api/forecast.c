/* forecast.c - what a run's figures say of what was not measured: more nodes, a step of
 * training */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/budget.h"
#include "server/analysis/projection.h"
#include "server/api/handlers.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/api/run_set.h"

#define NODES_MAX 100000
#define TEXT_MAX 2000

enum form { FORM_JSON, FORM_TEXT };

static const struct params_format formats[] = {
    {"json", "application/json", FORM_JSON},
    {"text", "text/plain", FORM_TEXT},
    {NULL, NULL, 0},
};

struct question {
    uv_work_t work;
    struct api *api;
    struct parked *parked;
    struct run_set set;
    int64_t nodes; /* 0: the question is the budget */
    struct budget budget;
    int form;
    json_t *answer;
    struct error err;
};

static void reply(struct http_request *request, int form, json_t *answer)
{
    const json_t *verdict = json_object_get(answer, "verdict");
    char text[TEXT_MAX];
    int n;

    http_reply_header(request, "Ringbench-Verdict", json_get_str(verdict, "answer", ""));
    if (form == FORM_JSON) {
        http_reply_json(request, 200, json_incref(answer));
        return;
    }
    n = snprintf(text, sizeof(text), "%s: %s\n", json_get_str(verdict, "answer", "?"),
                 json_get_str(verdict, "sentence", ""));
    http_reply_text(request, 200, "text/plain; charset=utf-8", text, (size_t)n);
}

static void refuse(struct http_request *request, const struct error *err)
{
    if (err->code == ERROR_INVALID)
        http_reply_problem(request, 422, NULL, "%s", err->text);
    else
        http_reply_error(request, err);
}

/* Answer, if there is still someone to answer, and free. */
static void finish(struct question *question, const struct error *err)
{
    struct http_request *request = parked_take(question->parked);

    question->api->comparisons--;
    if (request && err)
        refuse(request, err);
    else if (request)
        reply(request, question->form, question->answer);
    json_decref(question->answer);
    run_set_release(&question->set);
    free(question);
}

/* ---- The answer, on the work queue ---- */

static void do_answer(uv_work_t *work)
{
    struct question *question = work->data;
    const struct run_set *set = &question->set;

    if (question->nodes > 0)
        question->answer =
            projection_json(set->runs, set->n, (size_t)question->nodes, &question->err);
    else if (!(question->answer = budget_json(&question->budget, set->runs)))
        error_set(&question->err, ERROR_MEMORY, "out of memory");
}

static void on_answered(uv_work_t *work, int status)
{
    struct question *question = work->data;

    if (status < 0)
        error_set(&question->err, ERROR_UNAVAILABLE, "the server stops");
    finish(question, question->err.code ? &question->err : NULL);
}

static void on_read(void *arg, const struct error *err)
{
    struct question *question = arg;

    if (err)
        finish(question, err);
    else
        uv_queue_work(question->api->loop, &question->work, do_answer, on_answered);
}

/* ---- What is asked ---- */

static void take_run(void *arg, const char *id)
{
    struct question *question = arg;

    if (strlen(id) > ID_RUN_LENGTH)
        error_set(&question->err, ERROR_NOT_FOUND, "there is no run %.40s", id);
    else if (question->set.n == RUN_SET_MAX)
        error_set(&question->err, ERROR_INVALID,
                  "the parameter run may be given %d times at most", RUN_SET_MAX - 1);
    else
        run_set_add(&question->set, id, strlen(id));
}

static bool read_nodes(struct http_request *request, struct question *question)
{
    if (!params_integer(request, "nodes", 1, NODES_MAX, &question->nodes))
        return false;
    take_run(question, http_request_param(request, "id"));
    http_request_query_each(request, "run", take_run, question);
    if (question->nodes == 0)
        http_reply_problem(request, 422, NULL,
                           "the parameter nodes must say how many there would be");
    return question->nodes > 0;
}

static bool read_budget(struct http_request *request, struct question *question)
{
    json_t *body = params_body(request);
    struct problems problems;
    bool is_read;

    if (!body)
        return false;
    problems_init(&problems);
    is_read = budget_read(body, &question->budget, &problems) == 0;
    if (is_read && !json_is_string(json_object_get(body, "run"))) {
        problems_add(&problems, "/run",
                     "must be the id of the run whose times are taken");
        is_read = false;
    }
    if (is_read)
        take_run(question, json_get_str(body, "run", ""));
    else
        http_reply_problem(request, 422, &problems, "the question is not valid");
    problems_release(&problems);
    json_decref(body);
    return is_read;
}

static bool read_question(struct http_request *request, struct question *question,
                          bool is_budget)
{
    if (!params_format(request, formats, &question->form) ||
        !(is_budget ? read_budget : read_nodes)(request, question))
        return false;
    if (question->err.code)
        refuse(request, &question->err);
    return !question->err.code;
}

static void answer(struct http_request *request, struct api *api, bool is_budget)
{
    struct question *question;

    if (!run_set_may(api, request))
        return;
    question = calloc(1, sizeof(*question));
    if (!question) {
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    question->api = api;
    question->work.data = question;
    if (!read_question(request, question, is_budget) ||
        !(question->parked = parked_create(api, request))) {
        free(question);
        return;
    }
    api->comparisons++;
    run_set_read(&question->set, api, on_read, question);
}

void api_run_projection(struct http_request *request, void *arg)
{
    answer(request, arg, false);
}

void api_budget(struct http_request *request, void *arg)
{
    answer(request, arg, true);
}
