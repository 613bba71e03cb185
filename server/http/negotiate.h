/* SPDX-License-Identifier: Apache-2.0 */
/* negotiate.h - content negotiation: chooses media type and encoding (RFC 9110, section
 * 12.5) */
#ifndef RINGBENCH_SERVER_HTTP_NEGOTIATE_H
#define RINGBENCH_SERVER_HTTP_NEGOTIATE_H

#include <stdbool.h>

/* Return the index of the type in `types` (NULL-terminated) that an Accept header
 * prefers: highest q, then the more specific range, then the caller's order. 0 if the
 * header is NULL or has no well-formed element; -1 if it excludes all types. */
int negotiate_accept(const char *header, const char *const *types);

/* True if an Accept-Encoding header (may be NULL) allows `coding`. */
bool negotiate_encoding(const char *header, const char *coding);

#endif
