/* nodes.c - the nodes, and the rendezvous stores of the cases that run on them */
#include "common/base/json_util.h"
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/node_pages.h"
#include "server/api/task.h"
#include "server/render/verdict_text.h"

#define PREFLIGHT_TEXT_BYTES ((size_t)1 << 20)

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
        task->given = json_deep_copy(node);
        task_run(task, TASK_NO_RUN, STORE_KEYED, add_history);
    }
    json_decref(node);
}

/* Of a node, or without a name of all that are alive. */
void api_preflight(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    const char *name = http_request_param(request, "name");
    struct format_params params;
    json_t *verdict;
    struct buf out;

    if (!params_read(request, &preflight_route, &params))
        return;
    verdict = scheduler_preflight(api->scheduler, name);
    if (!verdict) {
        http_reply_problem(request, 404, NULL, "there is no node %s", name ? name : "");
        return;
    }
    buf_init(&out, PREFLIGHT_TEXT_BYTES);
    if (params.format->value == FORM_JSON)
        json_line_append(verdict, &out);
    else
        verdict_text_append(verdict, &out);
    params_reply(request, 200, params.format, &out);
    buf_release(&out);
    json_decref(verdict);
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
