/* SPDX-License-Identifier: Apache-2.0 */
/* auth.h - bearer tokens and their roles */
#ifndef RINGBENCH_SERVER_HTTP_AUTH_H
#define RINGBENCH_SERVER_HTTP_AUTH_H

#include "common/base/error.h"
#include "server/http/http.h"

/* Where a token may stand: the header "Authorization: Bearer TOKEN"; or, because a
 * browser's EventSource can't set headers, the query parameter access_token, which is
 * heeded only on a GET of a ROLE_VIEWER route and only without that header. Neither is
 * ever logged. */

struct http_auth;

#define HTTP_AUTH_NAME_MAX 64

/* Read a token file: lines "ROLE TOKEN [NAME]" (viewer, operator, agent; # comments); a
 * line with a single word is a token with every role. A token is 16 to 255 visible
 * characters; the name is whose it is, a word of letters, digits, '.', '_', '-' and '@'.
 * Refuses a file that others can read or anyone but its owner can write. */
struct http_auth *http_auth_load(const char *path, struct error *err);
void http_auth_destroy(struct http_auth *auth);

/* Whether an Authorization header (may be NULL) allows `role`. 0: allowed; 401: no or bad
 * token; 403: the token lacks the role. Compares in constant time. */
int http_auth_check(const struct http_auth *auth, const char *authorization,
                    enum http_role role);

/* The token in such a header (may be NULL), or NULL; borrowed. */
const char *http_auth_bearer(const char *authorization);

/* As http_auth_check, of a bare token. */
int http_auth_check_token(const struct http_auth *auth, const char *token,
                          enum http_role role);

/* The name beside a token (may be NULL), borrowed; NULL where there is none. */
const char *http_auth_name(const struct http_auth *auth, const char *token);

#endif
