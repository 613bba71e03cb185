/* SPDX-License-Identifier: Apache-2.0 */
/* lists.h - writes lists such as runs or nodes as JSON or as a table */
#ifndef RINGBENCH_SERVER_API_LISTS_H
#define RINGBENCH_SERVER_API_LISTS_H

#include <jansson.h>

#include "server/api/route_params.h"
#include "server/api/task.h"
#include "server/http/http.h"
#include "server/render/columns.h"

enum list {
    LIST_RUNS,
    LIST_NODES,
    LIST_PROGRAMS,
    LIST_STORES,
    LIST_BASELINES,
    LIST_LAUNCHERS,
    LIST_JOBS,
    LIST_WATCHES,
    LIST_SUSPECTS
};

/* Append items of the list as rows of a table. The layout is kept between calls. Return
 * -1 when `out` is full. */
int lists_append(enum list list, const json_t *items, enum form form,
                 struct columns_layout *layout, struct buf *out);

/* Write {KEY: items, "next": cursor} as the task's answer in the given format. If there
 * is a next page, add a Link header. Return -1 with err if the list is too long. */
int lists_write(struct task *task, enum list list, const json_t *document,
                const struct params_format *format, struct error *err);

/* Answer the request with the document in the given format. Takes the reference to the
 * document. */
void lists_reply(struct http_request *request, enum list list,
                 const struct params_format *format, json_t *document);

#endif
