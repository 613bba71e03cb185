/* SPDX-License-Identifier: Apache-2.0 */
/* params.h - query parameters, the body and the format of an answer. Functions that get a
 * request return false or NULL after answering it with a problem document. */
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

/* Parse a decimal integer within min..max; -1 if it is none. */
int params_parse_integer(const char *text, int64_t min, int64_t max, int64_t *value);

/* Read a route's parameters into the zeroed struct of its handler. route NULL: the answer
 * is JSON, without parameters. A bad number or flag is answered 400, another bad value
 * 422. */
bool params_read(struct http_request *request, const struct route_params *route,
                 void *into);

/* The values as an object by parameter name. A choice is its number; an absent text is
 * null. A new reference; NULL if a text is not UTF-8. */
json_t *params_json(const struct route_params *route, const void *values);

/* Return the body as JSON, a new reference; or answer with 400 and return NULL. */
json_t *params_body(struct http_request *request);

/* Read the body into a struct by its table of fields. On errors answer with 400, or with
 * 422, `refusal` and each wrong field, and return false. */
bool params_read_body(struct http_request *request, const struct spec_fields *fields,
                      void *into, const char *refusal);

/* Choose a format by ?format=, else by Accept, else the first. If ?format= is unknown,
 * answer with 422; if Accept excludes all, with 406; and return NULL. The table ends with
 * a NULL name. */
const struct params_format *params_format(struct http_request *request,
                                          const struct params_format *formats);

/* Answer with text (UTF-8) in a format of the table. */
void params_reply(struct http_request *request, int status,
                  const struct params_format *format, const struct buf *out);

/* For a resource with one format: if Accept excludes it, answer with 406 and return
 * false. */
bool params_type(struct http_request *request, const char *type);

#define PARAMS_TYPE_MAX 64

/* The Content-Type of an answer in that format. */
void params_content_type(const struct params_format *format, char type[PARAMS_TYPE_MAX]);

#endif
