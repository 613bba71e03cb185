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
 * *is_chunked: the body comes in chunks. */
int head_check(struct MHD_Connection *mhd, const struct head_line *line, bool *is_chunked,
               struct error *err);

/* Whether the library takes a bare LF after the size of a chunk, which we can't see. */
bool head_library_is_lenient(void);

#endif
