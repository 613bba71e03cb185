/* SPDX-License-Identifier: Apache-2.0 */
/* auth.h - bearer tokens and their roles */
#ifndef RINGBENCH_SERVER_HTTP_AUTH_H
#define RINGBENCH_SERVER_HTTP_AUTH_H

#include "common/base/error.h"
#include "server/http/http.h"

/* A token comes in the header "Authorization: Bearer TOKEN". A browser's EventSource
 * cannot set headers, so a GET of a ROLE_VIEWER route without that header may also have
 * the query parameter access_token. Tokens are never logged. */

struct http_auth;

#define HTTP_AUTH_NAME_MAX 64

/* Read a token file: lines "ROLE TOKEN [NAME]" (viewer, operator, agent; # comments). A
 * line with a single word is a token with every role. A token has 16 to 255 visible
 * characters. NAME is the user: letters, digits, '.', '_', '-' and '@'. Refuses a file
 * that others can read or that anyone but its owner can write. */
struct http_auth *http_auth_load(const char *path, struct error *err);
void http_auth_destroy(struct http_auth *auth);

/* Check whether an Authorization header (may be NULL) allows `role`. 0: allowed; 401: no
 * or bad token; 403: the token lacks the role. Compares in constant time. */
int http_auth_check(const struct http_auth *auth, const char *authorization,
                    enum http_role role);

/* The token in such a header (may be NULL), or NULL; borrowed. */
const char *http_auth_bearer(const char *authorization);

/* http_auth_check for a bare token. */
int http_auth_check_token(const struct http_auth *auth, const char *token,
                          enum http_role role);

/* The user name of a token (may be NULL), borrowed; NULL if there is none. */
const char *http_auth_name(const struct http_auth *auth, const char *token);

#endif
