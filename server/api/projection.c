/* projection.c - what a run would measure on more nodes */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/json_util.h"
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
    json_t *run; /* shared with nobody */
    int64_t nodes;
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
        answer = projection_json(question->run, values, (size_t)question->nodes);
    if (request && answer)
        reply(request, question, answer);
    else if (request && err)
        http_reply_error(request, err);
    else if (request)
        http_reply_problem(request, 503, NULL, "out of memory");
    case_values_destroy(values);
    question_free(question);
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct question *question = calloc(1, sizeof(*question));
    int form = FORM_JSON;

    if (!question || !(question->run = json_deep_copy(run))) {
        http_reply_problem(request, 503, NULL, "out of memory");
        free(question);
        return;
    }
    if (!params_integer(request, "nodes", 1, NODES_MAX, &question->nodes) ||
        !params_format(request, formats, &form)) {
        question_free(question);
        return;
    }
    question->form = form;
    question->parked = parked_create(api, request);
    if (!question->parked) {
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
