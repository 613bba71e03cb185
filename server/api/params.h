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

/* Return true if a text has 1 to max bytes and no control characters. */
bool params_is_line(const char *text, size_t max);

/* Parse a decimal integer from min to max. Return -1 if the text is anything else. */
int params_parse_integer(const char *text, int64_t min, int64_t max, int64_t *value);

/* Read a route's parameters into its handler's zeroed struct. If route is NULL, there are
 * no parameters and the answer is JSON. An invalid number or flag is answered with 400,
 * any other invalid value with 422. */
bool params_read(struct http_request *request, const struct route_params *route,
                 void *into);

/* Return the values as a new JSON object with the parameters' names as keys. A choice is
 * represented by its index, and an absent text by null. Return NULL if a text is not
 * UTF-8. */
json_t *params_json(const struct route_params *route, const void *values);

/* Parse the body as JSON and return a new reference. If the body is not JSON, answer with
 * 400 and return NULL. */
json_t *params_body(struct http_request *request);

/* Read the body into a struct that a table of fields describes. On errors, answer with
 * 400, or with 422, the text `refusal` and all invalid fields. Then return false. */
bool params_read_body(struct http_request *request, const struct spec_fields *fields,
                      void *into, const char *refusal);

/* Return the format that the parameter `format` or, without it, the header Accept
 * selects. The default is the first format. Return NULL after answering with 422 if
 * `format` is unknown, or with 406 if Accept excludes all formats. The table ends with a
 * NULL name. */
const struct params_format *params_format(struct http_request *request,
                                          const struct params_format *formats);

/* Answer with a text (UTF-8) in the given format. */
void params_reply(struct http_request *request, int status,
                  const struct params_format *format, const struct buf *out);

/* Check the only format of a resource. If Accept excludes the format, answer with 406 and
 * return false. */
bool params_type(struct http_request *request, const char *type);

#define PARAMS_TYPE_MAX 64

/* Write the Content-Type of an answer in the given format. */
void params_content_type(const struct params_format *format, char type[PARAMS_TYPE_MAX]);

#endif
