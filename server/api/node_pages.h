/* node_pages.h - the list of nodes, in steps */
#ifndef RINGBENCH_SERVER_API_NODE_PAGES_H
#define RINGBENCH_SERVER_API_NODE_PAGES_H

#include "server/api/api.h"
#include "server/api/route_params.h"

/* Answer with all nodes: some at once, and page after page of the others as the client
 * reads. */
void node_pages_reply(struct http_request *request, const struct api *api,
                      const struct nodes_params *params);

#endif
