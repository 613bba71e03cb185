/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.h - a run's document, from the scheduler's memory or from the store */
#ifndef RINGBENCH_SERVER_API_LOOKUP_H
#define RINGBENCH_SERVER_API_LOOKUP_H

#include "server/api/api.h"

/* The callback must answer the request; run is borrowed. */
typedef void lookup_found(struct api *api, struct http_request *request, json_t *run);

/* Find a run (id is copied) and call `found`; answer 404 if there is none. If the client
 * leaves first, `found` is not called. */
void lookup_run(struct api *api, struct http_request *request, const char *id,
                lookup_found *found);

/* Like lookup_run(), but the document of an unfinished run contains only "id". No other
 * thread is needed, because a thousand clients may reconnect at once. */
void lookup_id(struct api *api, struct http_request *request, const char *id,
               lookup_found *found);

#endif
