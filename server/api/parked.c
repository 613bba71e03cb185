/* SPDX-License-Identifier: Apache-2.0 */
/* parked.c - keeps a request whose answer waits for an event */
#include "server/api/parked.h"

#include <stdlib.h>

#include "common/base/memory.h"

static void on_gone(void *data)
{
    struct parked *parked = data;

    parked->request = NULL;
}

struct parked *parked_create(struct api *api, struct http_request *request)
{
    struct parked *parked = memory_zeroed(1, sizeof(*parked), "a request");

    parked->api = api;
    parked->request = request;
    http_request_park(request, on_gone, parked);
    return parked;
}

struct http_request *parked_take(struct parked *parked)
{
    struct http_request *request = parked->request;

    if (request)
        http_request_park(request, NULL, NULL);
    free(parked);
    return request;
}
