/* SPDX-License-Identifier: Apache-2.0 */
/* params.h - reads query parameters and the body, and chooses the format of the answer.
 * When a function that takes a request returns false or NULL, it has answered the request
 * with a problem document. */
#ifndef RINGBENCH_SERVER_API_PARAMS_H
#define RINGBENCH_SERVER_API_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/spec/spec_field.h"
#include "server/api/param.h"
#include "server/http/http.h"

/* True if a text has 1 to max bytes and no control characters. */
bool params_is_line(const char *text, size_t max);

/* Parse a decimal integer from min to max. Returns -1 if the text is anything else. */
int params_parse_integer(const char *text, int64_t min, int64_t max, int64_t *value);

/* Read a route's parameters into its handler's zeroed struct. If route is NULL, there are
 * no parameters and the answer is JSON. An invalid number or flag is answered with 400,
 * any other invalid value with 422. */
bool params_read(struct http_request *request, const struct route_params *route,
                 void *into);

/* Return the values as a JSON object by parameter name, a new reference. A choice is its
 * index, and an absent text is null. NULL if a text is not UTF-8. */
json_t *params_json(const struct route_params *route, const void *values);

/* Return the body as JSON, a new reference. If the body is not JSON, answer with 400 and
 * return NULL. */
json_t *params_body(struct http_request *request);

/* Read the body into a struct by a table of fields. On errors return false after an
 * answer: 400, or 422 with the text `refusal` and all invalid fields. */
bool params_read_body(struct http_request *request, const struct spec_fields *fields,
                      void *into, const char *refusal);

/* Choose a format by the parameter `format`, or by the header Accept, or take the first.
 * Return NULL after an answer: 422 if `format` is unknown, 406 if Accept excludes all
 * formats. The table ends with a NULL name. */
const struct params_format *params_format(struct http_request *request,
                                          const struct params_format *formats);

/* Answer with a text (UTF-8) in the given format. */
void params_reply(struct http_request *request, int status,
                  const struct params_format *format, const struct buf *out);

/* For a resource with one format: if Accept excludes it, answer with 406 and return
 * false. */
bool params_type(struct http_request *request, const char *type);

#define PARAMS_TYPE_MAX 64

/* Write the Content-Type of an answer in the given format. */
void params_content_type(const struct params_format *format, char type[PARAMS_TYPE_MAX]);

#endif
