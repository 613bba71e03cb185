/* nodes.c - the nodes, and the rendezvous stores of the cases that run on them */
#include <stdlib.h>

#include "common/base/json_util.h"
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/node_pages.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/render/verdict_text.h"

#define PREFLIGHT_TEXT_BYTES ((size_t)1 << 20)

void api_node_list(struct http_request *request, void *arg)
{
    bool has_inventory = true;

    if (lists_can_reply(request) && params_flag(request, "inventory", &has_inventory))
        node_pages_reply(request, arg, has_inventory);
}

/* A node that waits for its history. */
struct node_wait {
    struct parked *parked;
    json_t *node;
};

static void on_history(void *arg, const struct error *err, json_t *history)
{
    struct node_wait *wait = arg;
    struct http_request *request = parked_take(wait->parked);

    if (history)
        json_object_set_new(wait->node, "history", history);
    if (request && err)
        http_reply_error(request, err);
    else if (request)
        http_reply_json(request, 200, json_incref(wait->node));
    json_decref(wait->node);
    free(wait);
}

void api_node_get(struct http_request *request, void *arg)
{
    struct api *api = arg;
    const char *name = http_request_param(request, "name");
    struct node_wait *wait;
    json_t *node;

    if (!params_type(request, "application/json"))
        return;
    node = scheduler_node_json(api->scheduler, name);
    if (!node) {
        http_reply_problem(request, 404, NULL, "there is no node %s", name);
        return;
    }
    wait = calloc(1, sizeof(*wait));
    if (wait)
        wait->parked = parked_create(api, request);
    else
        http_reply_problem(request, 503, NULL, "out of memory");
    if (!wait || !wait->parked) {
        json_decref(node);
        free(wait);
        return;
    }
    wait->node = node;
    store_read_node(api->store, json_get_str(node, "name", ""), on_history, wait);
}

enum form { FORM_JSON, FORM_TEXT };

static const struct params_format verdict_formats[] = {
    {"json", "application/json", FORM_JSON},
    {"text", "text/plain", FORM_TEXT},
    {NULL, NULL, 0},
};

/* Of a node, or without a name of all that are alive. */
void api_preflight(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    const char *name = http_request_param(request, "name");
    json_t *verdict;
    struct buf out;
    int form;

    if (!params_format(request, verdict_formats, &form))
        return;
    verdict = scheduler_preflight(api->scheduler, name);
    buf_init(&out, PREFLIGHT_TEXT_BYTES);
    if (!verdict)
        http_reply_problem(request, 404, NULL, "there is no node %s", name ? name : "");
    else if (form == FORM_JSON)
        http_reply_json(request, 200, json_incref(verdict));
    else if (verdict_text_append(verdict, &out))
        http_reply_problem(request, 503, NULL, "out of memory");
    else
        params_reply(request, 200, &verdict_formats[FORM_TEXT], &out);
    buf_release(&out);
    json_decref(verdict);
}

void api_node_forget(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct error err;

    if (scheduler_forget_node(api->scheduler, http_request_param(request, "name"), &err))
        http_reply_error(request, &err);
    else
        http_reply_empty(request, 204);
}

void api_rendezvous_describe(struct http_request *request, void *arg)
{
    struct api *api = arg;

    if (lists_can_reply(request))
        lists_reply(request, LIST_STORES,
                    json_pack("{s:o}", "stores", rendezvous_describe(api->rendezvous)));
}
