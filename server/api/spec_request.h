/* SPDX-License-Identifier: Apache-2.0 */
/* spec_request.h - the run spec in a request's body. A function that gets the request has
 * answered it if it returns NULL. */
#ifndef RINGBENCH_SERVER_API_SPEC_REQUEST_H
#define RINGBENCH_SERVER_API_SPEC_REQUEST_H

#include "common/spec/run_spec.h"
#include "server/api/api.h"

/* Return the body as JSON, a new reference; or answer with 400 and return NULL. */
json_t *spec_request_body(struct http_request *request);

/* Return the spec, also checked against the server's settings and the nodes' programs; or
 * answer with 422 and each wrong field, and return NULL. */
struct run_spec *spec_request_parse(struct api *api, struct http_request *request,
                                    json_t *body);

/* Like spec_request_parse(), but adds the problems instead of answering. */
struct run_spec *spec_request_check(struct api *api, json_t *body,
                                    struct problems *problems);

#endif
