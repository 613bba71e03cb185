/* SPDX-License-Identifier: Apache-2.0 */
/* artifacts.c - answers requests for texts stored with a run: NCCL's topology files and
 * the nodes' inventories */
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/json_differences.h"
#include "server/api/handlers.h"
#include "server/api/task.h"
#include "server/store/store_artifacts.h"

static int answer_list(sqlite3 *db, struct task *task, struct error *err)
{
    const struct artifacts_params *params = &task->params.artifacts;
    json_t *list =
        store_get_artifacts(db, http_request_param(task->request, "id"), params->name,
                            params->after, (int)params->limit, err);

    return list ? task_json(task, list) : -1;
}

void api_run_artifacts(struct http_request *request, void *arg)
{
    task_start(arg, request, &artifacts_route, TASK_PACKED_RUN, STORE_KEYED, answer_list);
}

/* Send the text as plain text, so that no browser renders it. */
static int answer_text(sqlite3 *db, struct task *task, struct error *err)
{
    const struct store_artifact_key key = {
        .run = http_request_param(task->request, "id"),
        .digest = http_request_param(task->request, "digest")};
    json_t *texts = store_get_texts(db, &key, 1, err);

    if (!texts)
        return -1;
    buf_append_str(&task->out, json_get_str(json_array_get(texts, 0), "text", ""));
    json_decref(texts);
    return 0;
}

void api_run_artifact(struct http_request *request, void *arg)
{
    task_start(arg, request, &artifact_route, TASK_NO_RUN, STORE_KEYED, answer_text);
}

/* Parse the text at index `place` as JSON and return a new reference. */
static json_t *inventory_of(const json_t *texts, size_t place)
{
    return json_loads(json_get_str(json_array_get(texts, place), "text", ""), 0, NULL);
}

static int answer_inventory(sqlite3 *db, struct task *task, struct error *err)
{
    const struct store_artifact_key key = {.run = http_request_param(task->request, "id"),
                                           .node =
                                               http_request_param(task->request, "name"),
                                           .name = STORE_INVENTORY};
    json_t *texts = store_get_texts(db, &key, 1, err);
    int result = texts ? task_json(task, inventory_of(texts, 0)) : -1;

    json_decref(texts);
    return result;
}

void api_run_inventory(struct http_request *request, void *arg)
{
    task_start(arg, request, NULL, TASK_NO_RUN, STORE_KEYED, answer_inventory);
}

static int answer_differences(sqlite3 *db, struct task *task, struct error *err)
{
    const struct differences_params *params = &task->params.differences;
    const char *run = http_request_param(task->request, "id");
    const char *node = http_request_param(task->request, "name");
    const struct store_artifact_key keys[] = {
        {.run = run, .node = node, .name = STORE_INVENTORY},
        {.run = params->base ? params->base : run,
         .node = params->base_node ? params->base_node : node,
         .name = STORE_INVENTORY}};
    json_t *texts, *base, *head;

    if (!params->base && !params->base_node)
        return task_refuse(
            task, 422, err,
            "a parameter is missing: give base=RUN, base_node=NODE or both");
    texts = store_get_texts(db, keys, 2, err);
    if (!texts)
        return -1;
    head = inventory_of(texts, 0);
    base = inventory_of(texts, 1);
    json_decref(texts);
    task_json(task, json_pack("{s:o?}", "differences", json_differences(base, head)));
    json_decref(base);
    json_decref(head);
    return 0;
}

void api_run_node_differences(struct http_request *request, void *arg)
{
    task_start(arg, request, &differences_route, TASK_NO_RUN, STORE_KEYED,
               answer_differences);
}
