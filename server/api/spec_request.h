/* SPDX-License-Identifier: Apache-2.0 */
/* spec_request.h - the run spec in a request's body. Each call with the request answers
 * it when it returns NULL. */
#ifndef RINGBENCH_SERVER_API_SPEC_REQUEST_H
#define RINGBENCH_SERVER_API_SPEC_REQUEST_H

#include "common/spec/run_spec.h"
#include "server/api/api.h"

/* The body as JSON; a new reference. NULL after a 400. */
json_t *spec_request_body(struct http_request *request);

/* The spec, checked also against what this server allows and what its nodes' programs
 * take. NULL after a 422 with each wrong field. */
struct run_spec *spec_request_parse(struct api *api, struct http_request *request,
                                    json_t *body);

/* The same, which adds what is wrong in place of an answer. */
struct run_spec *spec_request_check(struct api *api, json_t *body,
                                    struct problems *problems);

#endif
