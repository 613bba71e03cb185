/* lists.h - the API's lists: JSON, or columns for a terminal */
#ifndef RINGBENCH_SERVER_API_LISTS_H
#define RINGBENCH_SERVER_API_LISTS_H

#include <jansson.h>

#include "server/api/route_params.h"
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

/* Append items of the list as text, behind those that the layout has seen. -1 when `out`
 * is full. */
int lists_append(enum list list, const json_t *items, struct columns_layout *layout,
                 struct buf *out);

/* Append {KEY: items, "next": cursor} in that format; `next` is what some lists have. -1
 * with err when `out` is full. */
int lists_write(enum list list, const json_t *document,
                const struct params_format *format, struct buf *out, struct error *err);

/* Answer with it (takes the document). */
void lists_reply(struct http_request *request, enum list list,
                 const struct params_format *format, json_t *document);

#endif
