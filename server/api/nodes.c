/* nodes.c - the nodes, and the rendezvous stores of the cases that run on them */
#include "common/base/json_util.h"
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/node_pages.h"
#include "server/api/task.h"
#include "server/nodes/preflight_nodes.h"
#include "server/render/verdict_text.h"

void api_node_list(struct http_request *request, void *arg)
{
    struct nodes_params params;

    if (params_read(request, &nodes_route, &params))
        node_pages_reply(request, arg, &params);
}

static int add_history(sqlite3 *db, struct task *task, struct error *err)
{
    json_t *history = store_get_node(db, http_request_param(task->request, "name"), err);

    if (!history)
        return -1;
    json_object_set_new(task->given, "history", history);
    return task_json(task, json_incref(task->given));
}

void api_node_get(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    const char *name = http_request_param(request, "name");
    json_t *node = scheduler_node_json(api->scheduler, name);
    struct task *task;

    if (!node) {
        http_reply_problem(request, 404, NULL, "there is no node %s", name);
        return;
    }
    task = task_create(arg, request, NULL);
    if (task) {
        task->given = json_incref(node);
        task_run(task, TASK_NO_RUN, STORE_KEYED, add_history);
    }
    json_decref(node);
}

static int judge_nodes(sqlite3 *db, struct task *task, struct error *err)
{
    json_t *verdict = preflight_of_snapshot(task->given);
    int result;

    (void)db;
    if (task->params.any.format->value == FORM_JSON)
        return task_json(task, verdict);
    result = verdict_text_append(verdict, &task->out);
    json_decref(verdict);
    return result ? task_too_large(err) : 0;
}

/* Of a node, or without a name of all that are alive. */
void api_preflight(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    const char *name = http_request_param(request, "name");
    json_t *nodes = scheduler_preflight(api->scheduler, name);
    struct task *task;

    if (!nodes) {
        http_reply_problem(request, 404, NULL, "there is no node %s", name);
        return;
    }
    task = task_create(arg, request, &preflight_route);
    if (task) {
        task->given = json_incref(nodes);
        task_run(task, TASK_NO_RUN, STORE_LONG, judge_nodes);
    }
    json_decref(nodes);
}

void api_node_forget(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct error err;

    if (agents_forget(api->agents, http_request_param(request, "name"), &err))
        http_reply_error(request, &err);
    else
        http_reply_empty(request, 204);
}

void api_rendezvous_describe(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    struct format_params params;

    if (params_read(request, &rendezvous_route, &params))
        lists_reply(request, LIST_STORES, params.format,
                    json_pack("{s:o}", "stores", rendezvous_describe(api->rendezvous)));
}
