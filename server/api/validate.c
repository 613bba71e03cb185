/* validate.c - what would become of a run spec, without starting it */
#include "common/base/json_util.h"
#include "server/api/handlers.h"
#include "server/api/spec_request.h"
#include "server/api/task.h"
#include "server/runs/history.h"

#define HISTORY_RUNS 32 /* the latest, among which like ones are looked for */

static void free_spec(void *spec)
{
    run_spec_destroy(spec);
}

/* Only a run that has nodes is known to take so long. */
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
