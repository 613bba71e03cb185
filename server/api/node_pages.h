/* node_pages.h - all nodes with their inventories, in steps */
#ifndef RINGBENCH_SERVER_API_NODE_PAGES_H
#define RINGBENCH_SERVER_API_NODE_PAGES_H

#include "server/api/api.h"
#include "server/http/http.h"

#define NODE_PAGE_BYTES ((size_t)128 << 10) /* a ms or so to make */

/* Answer with {"nodes": [...]}: these (taken), and page after page of those behind them
 * as the client reads. */
void node_pages_reply(struct http_request *request, const struct api *api, json_t *nodes);

#endif
