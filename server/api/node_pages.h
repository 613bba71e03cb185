/* node_pages.h - the list of nodes, in steps */
#ifndef RINGBENCH_SERVER_API_NODE_PAGES_H
#define RINGBENCH_SERVER_API_NODE_PAGES_H

#include "server/api/api.h"
#include "server/http/http.h"

/* Answer with all nodes in the form that the request wants, of those that
 * lists_can_reply knows: some at once, and page after page of the others as the client
 * reads. */
void node_pages_reply(struct http_request *request, const struct api *api,
                      bool has_inventory);

#endif
