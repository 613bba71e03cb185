/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - creates and frees requests, and gives handlers access to them */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/http/internal.h"
#include "server/http/negotiate.h"

#define ACCEPT_MAX 2048

static void forget(struct http_request *request)
{
    if (request->is_handled)
        TAILQ_REMOVE(&request->server->handled, request, next);
    request->is_handled = false;
    watch_stop(request->server, &request->watch);
    request->server->body_bytes -= request->body.len;
}

void request_free(struct http_request *request)
{
    if (request->server)
        forget(request);
    buf_release(&request->body);
    target_release(&request->target);
    for (size_t i = 0; i < request->n_headers; i++) {
        free(request->headers[i].name);
        free(request->headers[i].value);
    }
    free(request);
}

void request_detach(struct http_request *request)
{
    forget(request);
    request->server = NULL;
    request->exchange = NULL;
}

const char *http_request_param(const struct http_request *request, const char *name)
{
    return router_param(&request->match, name);
}

const char *http_request_query(const struct http_request *request, const char *name)
{
    return target_query(&request->target, name);
}

void http_request_query_each(const struct http_request *request, const char *name,
                             void (*each)(void *arg, const char *value), void *arg)
{
    for (size_t i = 0; i < request->target.n_query; i++)
        if (!strcmp(request->target.query[i].name, name))
            each(arg, request->target.query[i].value);
}

const char *http_request_header(const struct http_request *request, const char *name)
{
    if (!request->exchange)
        return NULL;
    return MHD_lookup_connection_value(request->exchange->mhd, MHD_HEADER_KIND, name);
}

const char *http_request_body(const struct http_request *request, size_t *len)
{
    *len = request->body.len;
    return request->body.len ? request->body.data : "";
}

char *http_request_take_body(struct http_request *request, size_t *len)
{
    if (request->server)
        request->server->body_bytes -= request->body.len;
    return buf_detach(&request->body, len);
}

void http_request_peer(const struct http_request *request, char out[NI_MAXHOST])
{
    const union MHD_ConnectionInfo *info = NULL;
    const struct sockaddr *peer;
    socklen_t len;

    out[0] = '\0';
    if (request->exchange)
        info = MHD_get_connection_info(request->exchange->mhd,
                                       MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info)
        return;
    peer = info->client_addr;
    len = peer->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                      : sizeof(struct sockaddr_in);
    if (getnameinfo(peer, len, out, NI_MAXHOST, NULL, 0, NI_NUMERICHOST))
        out[0] = '\0';
    if (strncmp(out, "::ffff:", 7) == 0 && strchr(out, '.'))
        memmove(out, out + 7, strlen(out + 7) + 1);
}

struct joined {
    char text[ACCEPT_MAX];
    size_t len;
    bool is_present;
};

/* A list header may come in several lines, which are joined by commas. */
static enum MHD_Result join_line(void *cls, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct joined *joined = cls;
    size_t room = sizeof(joined->text) - joined->len;
    int n;

    (void)kind;
    if (strcasecmp(name, "Accept") != 0)
        return MHD_YES;
    joined->is_present = true;
    n = snprintf(joined->text + joined->len, room, "%s%s", joined->len ? "," : "",
                 value ? value : "");
    joined->len += (size_t)n < room ? (size_t)n : room - 1;
    return MHD_YES;
}

int http_request_accepts(const struct http_request *request, const char *const *types)
{
    struct joined joined = {.len = 0};

    joined.text[0] = '\0';
    if (request->exchange)
        MHD_get_connection_values(request->exchange->mhd, MHD_HEADER_KIND, join_line,
                                  &joined);
    return negotiate_accept(joined.is_present ? joined.text : NULL, types);
}

bool http_request_may(const struct http_request *request, enum http_role role)
{
    return request->server &&
           (!request->server->auth ||
            http_auth_check(request->server->auth,
                            http_request_header(request, "Authorization"), role) == 0);
}

const char *http_request_token(const struct http_request *request)
{
    return http_auth_bearer(http_request_header(request, "Authorization"));
}

const char *http_request_who(const struct http_request *request)
{
    return request->server && request->server->auth
               ? http_auth_name(request->server->auth, http_request_token(request))
               : NULL;
}

void http_request_park(struct http_request *request, void (*gone)(void *data), void *data)
{
    if (!request->exchange)
        return;
    request->gone = gone;
    request->data = data;
    if (gone)
        watch_start(request->server, &request->watch);
    else
        watch_stop(request->server, &request->watch);
}
