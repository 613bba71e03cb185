/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.h - finds a run's document in the scheduler's memory or in the store */
#ifndef RINGBENCH_SERVER_API_LOOKUP_H
#define RINGBENCH_SERVER_API_LOOKUP_H

#include "server/api/api.h"

/* Receives the run's document (borrowed). It must answer the request. */
typedef void lookup_found(struct api *api, struct http_request *request, json_t *run);

/* Find a run (id is copied) and call `found`; answer 404 if there is none. If the client
 * leaves first, `found` is not called. */
void lookup_run(struct api *api, struct http_request *request, const char *id,
                lookup_found *found);

/* Like lookup_run(), but the document of an unfinished run contains only "id". This needs
 * no thread of the store, which matters when a thousand clients reconnect at once. */
void lookup_id(struct api *api, struct http_request *request, const char *id,
               lookup_found *found);

#endif
