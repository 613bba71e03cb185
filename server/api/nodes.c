/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - answers requests about nodes, rendezvous stores and programs */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/api/api.h"
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/params.h"
#include "server/api/route_params.h"
#include "server/api/task.h"
#include "server/nodes/preflight_nodes.h"
#include "server/nodes/programs.h"
#include "server/render/verdict_text.h"

/* ---- The list of nodes, page by page ---- */

#define PAGE_BYTES ((size_t)128 << 10) /* making a page takes about a millisecond */

struct node_pages {
    const struct api *api;
    struct http_stream *stream;
    const struct params_format *format;
    bool has_inventory;
    struct columns_layout layout;
    char last[256]; /* name of the last node sent */
};

static json_t *next_page(const struct node_pages *pages, bool *is_more)
{
    return scheduler_nodes_page(pages->api->scheduler, pages->last, pages->has_inventory,
                                PAGE_BYTES, is_more);
}

static void on_gone(void *data)
{
    struct node_pages *pages = data;

    http_stream_abort(pages->stream);
    free(pages);
}

static void append_json(const struct node_pages *pages, const json_t *nodes,
                        struct buf *out)
{
    if (!pages->last[0])
        buf_append_str(out, "{\"nodes\":[");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        if (pages->last[0] || i > 0)
            buf_append_str(out, ",");
        json_append(json_array_get(nodes, i), out);
    }
}

static void write_page(struct node_pages *pages, const json_t *nodes)
{
    size_t n = json_array_size(nodes);
    struct buf out;

    buf_init(&out, SIZE_MAX);
    if (pages->format->value == FORM_JSON)
        append_json(pages, nodes, &out);
    else
        lists_append(LIST_NODES, nodes, (enum form)pages->format->value, &pages->layout,
                     &out);
    http_stream_write(pages->stream, out.data, out.len);
    if (n > 0)
        snprintf(pages->last, sizeof(pages->last), "%s",
                 json_get_str(json_array_get(nodes, n - 1), "name", ""));
    buf_release(&out);
}

static void on_drained(void *data)
{
    struct node_pages *pages = data;
    bool is_more = false;
    json_t *nodes = next_page(pages, &is_more);

    write_page(pages, nodes);
    json_decref(nodes);
    if (is_more)
        return;
    if (pages->format->value == FORM_JSON)
        http_stream_write(pages->stream, "]}", 2);
    http_stream_end(pages->stream);
    free(pages);
}

/* Send `nodes` as the first page, then the other pages. Takes the reference to `nodes`.
 */
static void stream_pages(struct http_request *request, const struct node_pages *form,
                         json_t *nodes)
{
    struct node_pages *pages = memory_zeroed(1, sizeof(*pages), "a list");
    char type[PARAMS_TYPE_MAX];

    *pages = *form;
    params_content_type(form->format, type);
    pages->stream = http_stream_begin(request, 200, type, on_gone, pages);
    if (!pages->stream) {
        free(pages);
    } else {
        http_stream_on_drain(pages->stream, on_drained);
        write_page(pages, nodes);
    }
    json_decref(nodes);
}

/* Answer with all nodes. If they exceed one page, send the next page when the client has
 * read the previous one. */
static void node_pages_reply(struct http_request *request, const struct api *api,
                             const struct nodes_params *params)
{
    bool is_whole =
        params->format->value == FORM_JSON || params->format->value == FORM_NDJSON;
    const struct node_pages form = {.api = api,
                                    .format = params->format,
                                    .has_inventory = params->has_inventory && is_whole};
    bool is_more = false;
    json_t *nodes;

    nodes = next_page(&form, &is_more);
    if (is_more)
        stream_pages(request, &form, nodes);
    else
        lists_reply(request, LIST_NODES, params->format,
                    json_pack("{s:o}", "nodes", nodes));
}

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
    json_t *verdict =
        preflight_of_snapshot(task->given, http_request_param(task->request, "name"));
    int result;

    (void)db;
    if (task->params.any.format->value == FORM_JSON)
        return task_json(task, verdict);
    result = verdict_text_append(verdict, &task->out);
    json_decref(verdict);
    return result ? task_too_large(err) : 0;
}

/* Compare one node with all live nodes; if the path contains no node, check all of
 * them. */
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

void api_program_list(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    struct format_params params;

    if (params_read(request, &programs_route, &params))
        lists_reply(request, LIST_PROGRAMS, params.format,
                    json_pack("{s:o}", "programs",
                              programs_json(scheduler_nodes(api->scheduler))));
}
