/* SPDX-License-Identifier: Apache-2.0 */
/* head.h - detects request heads that another server could read differently. A proxy in
 * front of this server and the server itself must agree where a request ends (RFC 9112,
 * sections 2.2, 5 and 6). */
#ifndef RINGBENCH_SERVER_HTTP_HEAD_H
#define RINGBENCH_SERVER_HTTP_HEAD_H

#include <microhttpd.h>
#include <stdbool.h>

#include "common/base/error.h"

/* The request line as the library passes it to its first callbacks. */
struct head_line {
    const char *method, *uri, *version;
    const char *uri_end; /* end of the URI before the library decodes it */
};

/* Check the head. Returns -1 with the reason (ERROR_INVALID) if the request must be
 * refused and the connection closed. *is_last: close the connection after the answer,
 * because the end of the request is uncertain. Some versions of the library accept a bare
 * LF after a chunk's size or after the last header. */
int head_check(struct MHD_Connection *mhd, const struct head_line *line, bool *is_last,
               struct error *err);

#endif
