/* lists.h - the API's lists: JSON, or columns for a terminal */
#ifndef RINGBENCH_SERVER_API_LISTS_H
#define RINGBENCH_SERVER_API_LISTS_H

#include <jansson.h>

#include "server/http/http.h"
#include "server/render/columns.h"

enum list {
    LIST_RUNS,
    LIST_NODES,
    LIST_PROGRAMS,
    LIST_STORES,
    LIST_BASELINES,
    LIST_LAUNCHERS,
    LIST_JOBS
};

/* Whether the request wants a form that lists have; else it is answered. */
bool lists_can_reply(struct http_request *request);

/* Whether it wants JSON. */
bool lists_want_json(struct http_request *request);

/* Append items of the list as text, behind those that the layout has seen. -1 when `out`
 * is full. */
int lists_append(enum list list, const json_t *items, struct columns_layout *layout,
                 struct buf *out);

/* Answer with {KEY: items, "next": cursor} (takes the document) in the form that the
 * request wants; `next` is what some lists have. */
void lists_reply(struct http_request *request, enum list list, json_t *document);

#endif
