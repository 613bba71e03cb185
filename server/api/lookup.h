/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.h - a run's document, from the scheduler's memory or from the store */
#ifndef RINGBENCH_SERVER_API_LOOKUP_H
#define RINGBENCH_SERVER_API_LOOKUP_H

#include "server/api/api.h"

/* Called with a request that must now be answered; run is borrowed. */
typedef void lookup_found(struct api *api, struct http_request *request, json_t *run);

/* Find a run (id is copied) and go on with `found`; answer 404 when there is none. When
 * the client leaves first, nothing happens. */
void lookup_run(struct api *api, struct http_request *request, const char *id,
                lookup_found *found);

/* The same with no more than the "id" of a run that has not ended, which needs no other
 * thread: a thousand clients may come back at the same time. */
void lookup_id(struct api *api, struct http_request *request, const char *id,
               lookup_found *found);

#endif
