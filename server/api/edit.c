/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c - changes a run's labels and notes */
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "server/api/handlers.h"
#include "server/api/task.h"
#include "server/runs/run_edit.h"

/* Return the body of an `edit` event, or NULL with *problems. given: the patch, and the
 * name and address of its sender. */
static json_t *event_of(const json_t *run, const json_t *given, struct problems *problems)
{
    json_t *editable = run_editable(run);
    json_t *event = run_edit(editable, json_object_get(given, "patch"), problems);

    if (event) {
        json_object_set(event, "by", json_object_get(given, "by"));
        json_object_set(event, "peer", json_object_get(given, "peer"));
    }
    json_decref(editable);
    return event;
}

static bool changes_something(const json_t *event)
{
    return json_object_size(json_object_get(event, "after")) > 0;
}

static int show(sqlite3 *db, struct task *task, struct error *err)
{
    (void)db, (void)err;
    return task_json(task, json_incref(task->run));
}

/* Write the event before the run, because writing the event fails if the run was deleted
 * meanwhile. */
static void write_edit(struct task *task, const json_t *event)
{
    json_t *run = task->run, *editable = run_editable(run);

    json_object_update_new(run,
                           run_edit_apply(editable, json_object_get(event, "after")));
    json_decref(editable);
    task->write = store_write_create();
    store_write_event(task->write, task->run_id, clock_wall_ms(), "edit", event);
    store_write_run(task->write, task->run_id, json_get_str(run, "state", ""),
                    json_get_str(run, "name", ""),
                    clock_parse_ms(json_get_str(run, "created", NULL)),
                    json_object_get(run, "labels"), run);
}

/* Edit a run that is in the store but not in memory. */
static int edit_stored(sqlite3 *db, struct task *task, struct error *err)
{
    json_t *event = event_of(task->run, task->given, &task->problems);

    if (!event)
        return task_refuse(task, 422, err, "the run cannot be edited with these values");
    if (changes_something(event))
        write_edit(task, event);
    json_decref(event);
    return show(db, task, err);
}

/* Edit a run in memory. */
static void edit_live(struct task *task, const json_t *run)
{
    json_t *event = event_of(run, task->given, &task->problems);

    if (!event) {
        http_reply_problem(task->request, 422, &task->problems,
                           "the run cannot be edited with these values");
        task_free(task);
        return;
    }
    if (changes_something(event))
        scheduler_edit(task->api->scheduler, task->run_id, json_incref(event));
    json_decref(event);
    task_run(task, TASK_SETTLED_RUN, STORE_KEYED, show);
}

void api_run_edit(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct task *task;
    char peer[NI_MAXHOST];
    json_t *patch, *run;

    if (!params_type(request, "application/json") || !api_can_keep(api, request))
        return;
    patch = params_body(request);
    if (!patch)
        return;
    task = task_create(api, request, NULL);
    http_request_peer(request, peer);
    task->given = json_pack("{s:o, s:s?, s:s}", "patch", patch, "by",
                            http_request_who(request), "peer", peer);
    run = scheduler_run_listed(api->scheduler, task->run_id);
    if (run) {
        edit_live(task, run);
    } else {
        task->is_alone = true;
        task_run(task, TASK_RUN, STORE_KEYED, edit_stored);
    }
    json_decref(run);
}
