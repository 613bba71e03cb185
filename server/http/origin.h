/* SPDX-License-Identifier: Apache-2.0 */
/* origin.h - protects a server without tokens from other web pages in a user's browser:
 * cross-site posts and DNS rebinding */
#ifndef RINGBENCH_SERVER_HTTP_ORIGIN_H
#define RINGBENCH_SERVER_HTTP_ORIGIN_H

#include <stdbool.h>

/* True if an Origin header ("http://host:port") names the host of a Host header. "null"
 * matches nothing. */
bool origin_matches_host(const char *origin, const char *host);

/* True if a Host header names an address, localhost or one of `names` ("NAME,..."). In a
 * DNS rebinding attack, the browser sends the name of the attacker's page instead. */
bool origin_host_is_known(const char *host, const char *names);

#endif
