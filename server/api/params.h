/* params.h - query parameters, the body and the choice of a format. Each call returns
 * false after it has answered the request with a problem document. */
#ifndef RINGBENCH_SERVER_API_PARAMS_H
#define RINGBENCH_SERVER_API_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "server/api/param.h"
#include "server/http/http.h"
#include "server/store/store_trends.h"

/* Parse a whole decimal number within min..max; -1 if it is none. Pure. */
int params_parse_integer(const char *text, int64_t min, int64_t max, int64_t *value);

/* *value stays as it is when the parameter is absent. A bad one is a 400. */
bool params_integer(struct http_request *request, const char *name, int64_t min,
                    int64_t max, int64_t *value);
bool params_real(struct http_request *request, const char *name, double min, double max,
                 double *value);
bool params_flag(struct http_request *request, const char *name, bool *value);

/* The parameter `like`, "nodes" or "hardware": what runs that are alike have in common.
 */
bool params_likeness(struct http_request *request, enum run_likeness *likeness);
/* That and `last`: what to hold a run against, without the run. */
bool params_base(struct http_request *request, struct store_base_query *base);

/* The body as JSON; a new reference. NULL after a 400. */
json_t *params_body(struct http_request *request);

#define PARAMS_FORMATS_MAX 8

/* Choose by ?format= (422 if unknown), else by Accept (406), else the first. The table
 * ends with a NULL name. */
bool params_format(struct http_request *request, const struct params_format *formats,
                   int *value);

/* Answer with what was written in a format of the table; text is UTF-8. */
void params_reply(struct http_request *request, int status,
                  const struct params_format *format, const struct buf *out);

/* Of a resource that comes in one form only: a 406 if Accept excludes it. */
bool params_type(struct http_request *request, const char *type);

#endif
