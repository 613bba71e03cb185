/* SPDX-License-Identifier: Apache-2.0 */
/* negotiate.h - content negotiation, RFC 9110 section 12.5 */
#ifndef RINGBENCH_SERVER_HTTP_NEGOTIATE_H
#define RINGBENCH_SERVER_HTTP_NEGOTIATE_H

#include <stdbool.h>

/* Which of `types` (NULL-terminated) an Accept header likes best: highest q, then the
 * more specific range, then the caller's order. 0 when the header is NULL or has no
 * well-formed element; -1 when it excludes all of them. */
int negotiate_accept(const char *header, const char *const *types);

/* Whether an Accept-Encoding header (may be NULL) allows `coding`. */
bool negotiate_encoding(const char *header, const char *coding);

#endif
