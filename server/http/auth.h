/* auth.h - bearer tokens and their roles */
#ifndef RINGBENCH_SERVER_HTTP_AUTH_H
#define RINGBENCH_SERVER_HTTP_AUTH_H

#include "common/error.h"
#include "server/http/http.h"

struct http_auth;

/* Read a token file: lines "ROLE TOKEN" (viewer, operator, agent; # comments); a line with a
 * single word is a token with every role. Refuses a file that others can read. */
struct http_auth *http_auth_load(const char *path, struct error *err);
void http_auth_destroy(struct http_auth *auth);

/* Whether an Authorization header (may be NULL) allows `role`. 0: allowed; 401: no or bad
 * token; 403: the token lacks the role. Compares in constant time. */
int http_auth_check(const struct http_auth *auth, const char *authorization,
                    enum http_role role);

#endif
