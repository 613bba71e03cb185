/* nodes.c - the nodes, and the rendezvous stores of the cases that run on them */
#include "server/api/handlers.h"

void api_node_list(struct http_request *request, void *arg)
{
    struct api *api = arg;

    http_reply_json(request, 200,
                    json_pack("{s:o}", "nodes", scheduler_nodes_json(api->scheduler)));
}

void api_node_get(struct http_request *request, void *arg)
{
    struct api *api = arg;
    const char *name = http_request_param(request, "name");
    json_t *node = scheduler_node_json(api->scheduler, name);

    if (node)
        http_reply_json(request, 200, node);
    else
        http_reply_problem(request, 404, NULL, "there is no node %s", name);
}

void api_rendezvous_describe(struct http_request *request, void *arg)
{
    struct api *api = arg;

    http_reply_json(request, 200,
                    json_pack("{s:o}", "stores", rendezvous_describe(api->rendezvous)));
}
