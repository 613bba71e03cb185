/* SPDX-License-Identifier: Apache-2.0 */
/* auth.h - checks bearer tokens and their roles */
#ifndef RINGBENCH_SERVER_HTTP_AUTH_H
#define RINGBENCH_SERVER_HTTP_AUTH_H

#include "common/base/error.h"
#include "server/http/http.h"

/* A request contains its token in the header "Authorization: Bearer TOKEN". A browser's
 * EventSource cannot set headers. Therefore a GET request without that header may contain
 * the token as query parameter access_token, if the route requires ROLE_VIEWER. Tokens
 * are never logged. */

struct http_auth;

#define HTTP_AUTH_NAME_MAX 64

/* Read a token file: lines "ROLE TOKEN [NAME]" (viewer, operator, agent; # comments). A
 * line with a single word is a token with every role. A token has 16 to 255 visible
 * characters. NAME is the user: letters, digits, '.', '_', '-' and '@'. Refuses a file
 * that others can read or that anyone but its owner can write. */
struct http_auth *http_auth_load(const char *path, struct error *err);
void http_auth_destroy(struct http_auth *auth);

/* Check if an Authorization header (may be NULL) allows `role`. Returns 0: allowed; 401:
 * there is no valid token; 403: the token lacks the role. Compares in constant time. */
int http_auth_check(const struct http_auth *auth, const char *authorization,
                    enum http_role role);

/* Return the token in an Authorization header (may be NULL), borrowed; NULL if there is
 * none. */
const char *http_auth_bearer(const char *authorization);

/* Like http_auth_check(), for a token without a header. */
int http_auth_check_token(const struct http_auth *auth, const char *token,
                          enum http_role role);

/* Return the user name of a token (may be NULL), borrowed; NULL if there is none. */
const char *http_auth_name(const struct http_auth *auth, const char *token);

#endif
