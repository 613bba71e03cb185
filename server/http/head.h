/* SPDX-License-Identifier: Apache-2.0 */
/* head.h - heads of requests that another server could read differently: a proxy in front
 * of us and we must agree where a request ends (RFC 9112, sections 2.2, 5 and 6) */
#ifndef RINGBENCH_SERVER_HTTP_HEAD_H
#define RINGBENCH_SERVER_HTTP_HEAD_H

#include <microhttpd.h>
#include <stdbool.h>

#include "common/base/error.h"

/* The request line as the library gives it to its first callbacks. */
struct head_line {
    const char *method, *uri, *version;
    const char *uri_end; /* before the library decoded it */
};

/* -1 with the reason (ERROR_INVALID) when it is to be refused and the connection closed.
 * *is_last: so it is after the answer, because the library does not say for sure where
 * the request ends: in some versions it takes a bare LF after the size of a chunk, or
 * after the last header. */
int head_check(struct MHD_Connection *mhd, const struct head_line *line, bool *is_last,
               struct error *err);

#endif
