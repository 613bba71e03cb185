/* SPDX-License-Identifier: Apache-2.0 */
/* spec_request.c - parses and checks the run spec in a request's body */
#include "server/api/spec_request.h"

#include <string.h>

#include "common/base/json_util.h"
#include "server/api/handlers.h"
#include "server/api/params.h"
#include "server/api/task.h"
#include "server/launch/jobs.h"
#include "server/nodes/placement.h"
#include "server/nodes/programs.h"
#include "server/runs/history.h"

json_t *spec_request_body(struct http_request *request)
{
    struct error err;
    size_t len;
    const char *text = http_request_body(request, &len);

    if (strspn(text, " \t\r\n") == len) {
        http_reply_problem(request, 400, NULL,
                           "the body is empty: send {} for a run with all defaults");
        return NULL;
    }
    if (json_check_extent(text, len, &err)) {
        http_reply_problem(request, 413, NULL, "%s", err.text);
        return NULL;
    }
    return params_body(request);
}

/* Check the program although other fields of the spec are wrong, so that the answer
 * reports all problems at once. */
static void check_program_alone(struct api *api, const json_t *body,
                                struct problems *problems)
{
    json_t *program = json_object_get(body, "program");
    json_t *alone = program ? json_pack("{s:O}", "program", program) : NULL;
    struct problems known;
    struct run_spec *spec;

    problems_init(&known);
    spec = alone ? run_spec_parse(alone, &known) : NULL;
    if (spec)
        program_args_fit(scheduler_nodes(api->scheduler), spec, problems);
    run_spec_destroy(spec);
    problems_release(&known);
    json_decref(alone);
}

struct run_spec *spec_request_check(struct api *api, json_t *body,
                                    struct problems *problems)
{
    const struct node_registry *nodes = scheduler_nodes(api->scheduler);
    struct run_spec *spec = run_spec_parse(body, problems);
    size_t before = problems->count;

    if (!spec) {
        check_program_alone(api, body, problems);
        return NULL;
    }
    if (spec->fault && !api->allow_faults)
        problems_add(
            problems, "/fault",
            "this server does not allow fault injection: start it with --allow-faults");
    else
        jobs_check(api->jobs, spec, problems);
    if (problems->count == before && placement_knows_backend(nodes, spec, problems) &&
        program_args_fit(nodes, spec, problems) &&
        scheduler_plan_fits(api->scheduler, spec, problems))
        return spec;
    run_spec_destroy(spec);
    return NULL;
}

struct run_spec *spec_request_parse(struct api *api, struct http_request *request,
                                    json_t *body)
{
    struct problems problems;
    struct run_spec *spec;

    problems_init(&problems);
    spec = spec_request_check(api, body, &problems);
    if (!spec)
        http_reply_problem(
            request, 422, &problems, "the run cannot be accepted: %zu field%s wrong%s",
            problems.count, problems.count == 1 ? " is" : "s are",
            problems_are_full(&problems) ? "; the first errors are listed" : "");
    problems_release(&problems);
    return spec;
}

/* ---- Validation without starting the run ---- */

#define HISTORY_RUNS 32 /* latest runs searched for similar ones */

static void free_spec(void *spec)
{
    run_spec_destroy(spec);
}

/* Add an estimate of the run's time, if the preview contains nodes for the run. */
static int add_time(sqlite3 *db, struct task *task, struct error *err)
{
    const json_t *placement = json_object_get(task->given, "placement");
    const json_t *nodes = json_object_get(placement, "nodes");
    json_t *runs;

    if (json_array_size(nodes) > 0) {
        runs = store_get_completed(db, HISTORY_RUNS, err);
        if (!runs)
            return -1;
        json_object_set_new(
            task->given, "time",
            history_time(runs, task->own, json_get_str(placement, "backend", ""),
                         (int)json_get_int(placement, "world_size", 0), nodes));
        json_decref(runs);
    }
    return task_json(task, json_incref(task->given));
}

void api_run_validate(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct run_spec *spec;
    struct task *task;
    json_t *body;

    if (!params_type(request, "application/json"))
        return;
    body = spec_request_body(request);
    if (!body)
        return;
    spec = spec_request_parse(api, request, body);
    json_decref(body);
    if (!spec)
        return;
    task = task_create(api, request, NULL);
    task->given = scheduler_preview(api->scheduler, spec);
    task->own = spec;
    task->release = free_spec;
    task_run(task, TASK_NO_RUN, STORE_LONG, add_time);
}
