/* SPDX-License-Identifier: Apache-2.0 */
/* parked.h - keeps a request whose answer waits for an event. The client may leave during
 * the wait. */
#ifndef RINGBENCH_SERVER_API_PARKED_H
#define RINGBENCH_SERVER_API_PARKED_H

#include "server/api/api.h"

struct parked {
    struct api *api;
    struct http_request *request; /* NULL once the client has left */
};

/* Park the request. */
struct parked *parked_create(struct api *api, struct http_request *request);

/* End the wait: free `parked` and return the request, which must now be answered. Return
 * NULL if the client has left. */
struct http_request *parked_take(struct parked *parked);

#endif
