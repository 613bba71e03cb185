/* forecast.c - what a run's figures say of what was not measured: more nodes, a step of
 * training */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/json_util.h"
#include "server/analysis/budget.h"
#include "server/analysis/projection.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/runs/case_values_read.h"

#define NODES_MAX 100000
#define TEXT_MAX 2000

enum form { FORM_JSON, FORM_TEXT };

static const struct params_format formats[] = {
    {"json", "application/json", FORM_JSON},
    {"text", "text/plain", FORM_TEXT},
    {NULL, NULL, 0},
};

struct question {
    struct parked *parked;
    json_t *run;   /* shared with nobody */
    int64_t nodes; /* 0: the question is the budget */
    struct budget budget;
    int form;
};

static void question_free(struct question *question)
{
    json_decref(question->run);
    free(question);
}

static void reply(struct http_request *request, const struct question *question,
                  json_t *answer)
{
    const json_t *verdict = json_object_get(answer, "verdict");
    char text[TEXT_MAX];
    int n;

    http_reply_header(request, "Ringbench-Verdict", json_get_str(verdict, "answer", ""));
    if (question->form == FORM_JSON) {
        http_reply_json(request, 200, answer);
        return;
    }
    n = snprintf(text, sizeof(text), "%s: %s\n", json_get_str(verdict, "answer", "?"),
                 json_get_str(verdict, "sentence", ""));
    http_reply_text(request, 200, "text/plain; charset=utf-8", text, (size_t)n);
    json_decref(answer);
}

static void on_values(void *arg, const struct error *err, struct case_values *values,
                      json_t *of_run)
{
    struct question *question = arg;
    struct http_request *request = parked_take(question->parked);
    json_t *answer = NULL;

    (void)of_run;
    if (request && !err)
        answer = question->nodes > 0
                     ? projection_json(question->run, values, (size_t)question->nodes)
                     : budget_json(&question->budget, question->run, values);
    if (request && answer)
        reply(request, question, answer);
    else if (request && err)
        http_reply_error(request, err);
    else if (request)
        http_reply_problem(request, 503, NULL, "out of memory");
    case_values_destroy(values);
    question_free(question);
}

/* What is asked, once more: it was found to be right before the run was looked for. */
static bool read_question(struct http_request *request, struct question *question)
{
    bool is_read, is_budget = !http_request_param(request, "id");
    struct problems problems;
    json_t *body;

    if (!params_format(request, formats, &question->form))
        return false;
    if (!is_budget)
        return params_integer(request, "nodes", 1, NODES_MAX, &question->nodes);
    body = params_body(request);
    if (!body)
        return false;
    problems_init(&problems);
    is_read = budget_read(body, &question->budget, &problems) == 0;
    if (!is_read)
        http_reply_problem(request, 422, &problems, "the question is not valid");
    problems_release(&problems);
    json_decref(body);
    return is_read;
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct question *question = calloc(1, sizeof(*question));

    if (!question || !(question->run = json_deep_copy(run))) {
        http_reply_problem(request, 503, NULL, "out of memory");
        free(question);
        return;
    }
    if (!read_question(request, question) ||
        !(question->parked = parked_create(api, request))) {
        question_free(question);
        return;
    }
    case_values_read(api->loop, api->store, question->run, false, on_values, question);
}

static void settled(struct api *api, struct http_request *request, json_t *run)
{
    lookup_settle(api, request, run, found);
}

void api_run_projection(struct http_request *request, void *arg)
{
    int64_t nodes = 0;
    int form;

    if (!params_integer(request, "nodes", 1, NODES_MAX, &nodes) ||
        !params_format(request, formats, &form))
        return;
    if (nodes == 0)
        http_reply_problem(request, 422, NULL,
                           "the parameter nodes must say how many there would be");
    else
        lookup_run(arg, request, http_request_param(request, "id"), settled);
}

void api_budget(struct http_request *request, void *arg)
{
    struct question question = {0};
    json_t *body;

    if (!read_question(request, &question))
        return;
    body = params_body(request);
    if (!json_is_string(json_object_get(body, "run")))
        http_reply_problem(request, 422, NULL,
                           "run must be the id of the run whose times are taken");
    else
        lookup_run(arg, request, json_get_str(body, "run", ""), settled);
    json_decref(body);
}
