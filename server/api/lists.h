/* lists.h - the API's lists: JSON, or columns for a terminal */
#ifndef RINGBENCH_SERVER_API_LISTS_H
#define RINGBENCH_SERVER_API_LISTS_H

#include "server/http/http.h"

#include <jansson.h>

enum list { LIST_RUNS, LIST_NODES, LIST_PROGRAMS, LIST_STORES };

/* Whether the request wants a form that lists have; else it is answered. */
bool lists_can_reply(struct http_request *request);

/* Whether it wants JSON. */
bool lists_want_json(struct http_request *request);

/* Answer with {KEY: items, "next": cursor} (takes the document) in the form that the
 * request wants; `next` is what some lists have. */
void lists_reply(struct http_request *request, enum list list, json_t *document);

#endif
