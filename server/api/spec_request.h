/* SPDX-License-Identifier: Apache-2.0 */
/* spec_request.h - parses and checks the run spec in a request's body. When a function
 * that takes the request returns NULL, it has answered the request. */
#ifndef RINGBENCH_SERVER_API_SPEC_REQUEST_H
#define RINGBENCH_SERVER_API_SPEC_REQUEST_H

#include "common/spec/run_spec.h"
#include "server/api/api.h"

/* Parse the body as JSON and return a new reference. If that fails, answer with 400 or
 * 413 and return NULL. */
json_t *spec_request_body(struct http_request *request);

/* Parse the spec and check it against the server's settings and the nodes' programs. On
 * errors, answer with 422 and all invalid fields, and return NULL. */
struct run_spec *spec_request_parse(struct api *api, struct http_request *request,
                                    json_t *body);

/* Like spec_request_parse(), but add errors to `problems` and send no answer. */
struct run_spec *spec_request_check(struct api *api, json_t *body,
                                    struct problems *problems);

#endif
