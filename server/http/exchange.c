/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - handles a request on the library's thread: checks it, reads the body, and
 * sends the answer that the loop provides */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "server/http/internal.h"
#include "server/http/origin.h"

/* Time limit from a request's first line to its end: REQUEST_MS, plus one second per
 * BODY_BYTES_PER_S bytes of the body. */
#define REQUEST_MS 30000
#define BODY_BYTES_PER_S (32 * 1024)
/* An idle connection is closed after this time. */
#define KEEP_ALIVE_MS 60000
/* The body of a refused request is read and dropped up to this size, so that the
 * connection can be reused. */
#define DISCARD_MAX ((uint64_t)1 << 20)
/* Limit for the bodies of all current requests together. */
#define BODIES_MAX ((size_t)256 << 20)

/* Requests with larger bodies wait in a separate queue, because processing one takes
 * milliseconds. */
#define LARGE_BODY ((size_t)16 << 10)

static uint64_t now_ms(void)
{
    return (uint64_t)(clock_monotonic_ns() / 1000000);
}

/* Called on the loop when the client has left while a handler works on its request. */
static void on_lost(struct watch *watch)
{
    struct http_request *request = watch->owner;
    struct http_server *server = request->server;
    void (*gone)(void *data) = request->gone;

    watch_stop(server, watch);
    uv_mutex_unlock(&server->lock);
    shutdown(watch->fd, SHUT_RDWR);
    request->exchange->is_lost = true;
    gone(request->data);
    reply_finish(request, 503, reply_empty());
    uv_mutex_lock(&server->lock);
}

static struct http_request *request_new(struct exchange *exchange)
{
    struct http_request *request = memory_zeroed(1, sizeof(*request), "a request");
    const char *uri = exchange->line.uri;

    request->server = exchange->server;
    request->exchange = exchange;
    request->watch = (struct watch){
        .owner = request, .fd = exchange->connection->fd, .callback = on_lost};
    target_parse(&request->target, uri ? uri : "", &request->target_error);
    return request;
}

void *exchange_open(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    struct http_server *server = cls;
    struct http_connection *connection = connection_of(mhd);
    struct exchange *exchange = memory_zeroed(1, sizeof(*exchange), "a request");

    exchange->server = server;
    exchange->connection = connection;
    exchange->mhd = mhd;
    exchange->begun_ms = now_ms();
    exchange->line.uri = uri;
    exchange->line.uri_end = uri ? uri + strlen(uri) : NULL;
    exchange->request = request_new(exchange);
    uv_mutex_lock(&server->lock);
    server->n_exchanges++;
    server->counters.waiting -= !connection->has_sent_line;
    connection->has_sent_line = true;
    connection_wait(connection, REQUEST_MS);
    uv_mutex_unlock(&server->lock);
    return exchange;
}

void exchange_completed(void *cls, struct MHD_Connection *mhd, void **context,
                        enum MHD_RequestTerminationCode code)
{
    struct http_server *server = cls;
    struct exchange *exchange = *context;

    (void)mhd;
    (void)code;
    *context = NULL;
    if (!exchange)
        return;
    if (exchange->request)
        request_free(exchange->request);
    if (exchange->response)
        MHD_destroy_response(exchange->response);
    uv_mutex_lock(&server->lock);
    server->n_exchanges--;
    connection_wait_anew(exchange->connection, KEEP_ALIVE_MS);
    uv_mutex_unlock(&server->lock);
    free(exchange);
}

static const char *header(const struct exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->mhd, MHD_HEADER_KIND, name);
}

static bool is_safe_method(const char *method)
{
    return !strcmp(method, "GET") || !strcmp(method, "HEAD") ||
           !strcmp(method, "OPTIONS");
}

/* If the server has no tokens, refuse requests from pages of other sites (origin.h). Such
 * a page could otherwise use the server through the user's browser. With tokens this
 * check is not needed, because a browser never adds a token by itself. */
static bool refuse_foreign_page(struct http_request *request)
{
    const char *host = header(request->exchange, "Host");
    const char *origin = header(request->exchange, "Origin");

    if (request->server->has_tokens)
        return false;
    if (host && !origin_host_is_known(host, request->server->hosts)) {
        reply_refuse(request, 403,
                     "the Host header contains an unknown name. Without a token file, "
                     "the server accepts only IP addresses and the names localhost%s%s. "
                     "Add other names with --allow-host",
                     *request->server->hosts ? ", " : "", request->server->hosts);
        return true;
    }
    if (origin && !is_safe_method(request->method) &&
        !origin_matches_host(origin, host)) {
        reply_refuse(request, 403,
                     "the Origin header names another site than the Host header");
        return true;
    }
    return false;
}

static void refuse_method(struct http_request *request, const char *allow)
{
    http_reply_header(request, "Allow", allow);
    if (!strcmp(request->method, "OPTIONS"))
        reply_finish(request, 204, reply_empty());
    else
        reply_refuse(request, 405, "this resource allows %s", allow);
}

/* True if the path differs from a route only by a trailing slash. Such a path must not
 * return the UI's page: a monitor that requests "/healthz/" would consider the server
 * healthy. */
static bool is_route_with_slash(const struct http_request *request)
{
    struct target target = request->target;
    struct router_match match;

    if (target.n_segments < 2 || *target.segments[target.n_segments - 1])
        return false;
    target.n_segments--;
    return router_match(request->server->routes, "GET", &target, &match) !=
           ROUTER_NO_PATH;
}

/* True if no file has this path, so that `file` is the UI's page. */
static bool is_view(const struct static_file *file, const char *path)
{
    return strcmp(path, "/") != 0 && strcmp(path, file->path) != 0;
}

static void find_file(struct http_request *request)
{
    const struct target *target = &request->target;
    struct http_server *server = request->server;
    bool is_api = target->n_segments && !strcmp(target->segments[0], "api");

    if (is_route_with_slash(request)) {
        reply_refuse(request, 404,
                     "no such page: remove the slash at the end of the path");
        return;
    }
    if (server->files && target->n_segments && !is_api)
        request->file = static_files_find(server->files, target->path);
    if (request->file && !is_safe_method(request->method) &&
        is_view(request->file, target->path))
        request->file = NULL;
    if (!request->file)
        reply_refuse(request, 404, "no such page%s",
                     is_api || !is_safe_method(request->method)
                         ? "; /openapi.json lists all paths"
                         : "");
    else if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
        refuse_method(request, "GET, HEAD, OPTIONS");
}

static void find_route(struct http_request *request)
{
    if (!strcmp(request->target.path, "*") && !strcmp(request->method, "OPTIONS")) {
        refuse_method(request, "GET, HEAD, POST, PATCH, DELETE, OPTIONS");
        return;
    }
    switch (router_match(request->server->routes, request->method, &request->target,
                         &request->match)) {
    case ROUTER_FOUND:
        break;
    case ROUTER_NO_METHOD:
        refuse_method(request, request->match.allow);
        break;
    case ROUTER_NO_PATH:
        find_file(request);
        break;
    }
}

/* Check the request's token against the token file. Returns 0: allowed; 401 or 403:
 * refused. */
static int check_token(struct http_request *request, enum http_role role)
{
    struct http_server *server = request->server;
    const char *authorization = header(request->exchange, "Authorization");
    const char *token = target_query(&request->target, "access_token");
    int status;

    uv_rwlock_rdlock(&server->auth_lock);
    if (!authorization && token && role == ROLE_VIEWER && is_safe_method(request->method))
        status = http_auth_check_token(server->auth, token, role);
    else
        status = http_auth_check(server->auth, authorization, role);
    uv_rwlock_rdunlock(&server->auth_lock);
    return status;
}

/* True if the token may belong to a job that the server started. Only the loop knows the
 * jobs' tokens. */
static bool may_be_job_token(const struct http_request *request)
{
    return request->server->has_token_check && request->match.route->role == ROLE_AGENT &&
           http_request_token(request);
}

static void check_role(struct http_request *request)
{
    enum http_role role = request->match.route->role;
    int status = 0;

    if (request->server->has_tokens && role != ROLE_NONE)
        status = check_token(request, role);
    if (status == 401 && may_be_job_token(request))
        request->exchange->phase = EXCHANGE_CHECKING_TOKEN;
    else if (status == 401)
        reply_unauthorized(request);
    else if (status)
        reply_refuse(request, 403, "the token's role does not allow this request");
}

/* Return the announced size of the body in bytes; UINT64_MAX if the body is chunked. */
static uint64_t announced_body(const struct exchange *exchange)
{
    const char *length = header(exchange, "Content-Length");

    if (header(exchange, "Transfer-Encoding"))
        return UINT64_MAX;
    return length ? strtoull(length, NULL, 10) : 0;
}

static size_t max_body(const struct http_request *request)
{
    return request->match.route ? request->match.route->max_body : 0;
}

static void refuse_body(struct http_request *request)
{
    if (max_body(request) == 0)
        reply_refuse(request, 413, "this resource takes no body");
    else
        reply_refuse(request, 413, "the body is larger than %zu bytes",
                     max_body(request));
}

/* True if the body is compressed. The server refuses such bodies, because a small one
 * could become huge. */
static bool is_encoded(const struct exchange *exchange)
{
    const char *encoding = header(exchange, "Content-Encoding");

    return encoding && *encoding && strcasecmp(encoding, "identity") != 0;
}

/* Refuse a request whose end is ambiguous. Otherwise it could smuggle a second request
 * past a proxy in front of the server (head.h). */
static bool refuse_doubtful_head(struct http_request *request)
{
    struct exchange *exchange = request->exchange;
    struct error err;

    if (head_check(exchange->mhd, &exchange->line, &exchange->is_last, &err) == 0)
        return false;
    exchange->is_last = true;
    reply_refuse(request, 400, "%s", err.text);
    return true;
}

static bool refuse_target(struct http_request *request)
{
    const struct error *err = &request->target_error;

    if (!err->code)
        return false;
    reply_refuse(request, err->code == ERROR_NOT_FOUND ? 404 : 400, "%s", err->text);
    return true;
}

static bool refuse_large_body(struct http_request *request)
{
    uint64_t announced = announced_body(request->exchange);

    if (announced == UINT64_MAX || announced <= max_body(request))
        return false;
    refuse_body(request);
    return true;
}

static bool refuse_encoded_body(struct http_request *request)
{
    if (announced_body(request->exchange) == 0 || !is_encoded(request->exchange))
        return false;
    http_reply_header(request, "Accept-Encoding", "identity");
    reply_refuse(request, 415, "send the body without Content-Encoding");
    return true;
}

/* Run all checks that precede the body. A failed check answers the request, which then
 * ends. */
static void check(struct exchange *exchange)
{
    struct http_request *request = exchange->request;

    if (refuse_doubtful_head(request))
        return;
    if (refuse_target(request) || refuse_foreign_page(request))
        return;
    find_route(request);
    if (exchange->request && request->match.route) {
        exchange->is_of_agent = request->match.route->role == ROLE_AGENT;
        check_role(request);
    }
    if (exchange->request && !refuse_large_body(request))
        refuse_encoded_body(request);
}

/* Call with the lock held. */
static void count_response(struct http_server *server, const struct exchange *exchange,
                           unsigned status)
{
    server->counters.requests++;
    histogram_add(exchange->is_of_agent ? &server->counters.agents_took
                                        : &server->counters.clients_took,
                  histogram_quick, (double)(now_ms() - exchange->begun_ms) / 1e3);
    if (status >= 500)
        server->counters.responses_5xx++;
    else if (status >= 400)
        server->counters.responses_4xx++;
    else if (status >= 200 && status < 300)
        server->counters.responses_2xx++;
}

static enum MHD_Result send_answer(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct MHD_Response *response = exchange->response;
    enum MHD_Result rc;

    exchange->response = NULL;
    uv_mutex_lock(&server->lock);
    if (exchange->is_stream)
        connection_rest(exchange->connection);
    else
        connection_wait_for_reading(exchange->connection);
    if (!exchange->is_lost)
        count_response(server, exchange, exchange->status);
    uv_mutex_unlock(&server->lock);
    rc = MHD_queue_response(exchange->mhd, exchange->status, response);
    MHD_destroy_response(response);
    return rc;
}

static struct http_request_list *queue_of(const struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    const struct http_request *request = exchange->request;
    const struct http_route *route = request->match.route;

    if (request->body.len > LARGE_BODY)
        return &server->large;
    return route && route->role == ROLE_AGENT ? &server->agents : &server->small;
}

/* Pass the request to the loop and suspend its connection until the loop has answered. If
 * the server is closing, refuse the request and return false. */
static bool hand_over(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct http_request *request = exchange->request;
    bool is_taken;

    uv_mutex_lock(&server->lock);
    is_taken = !server->is_closing;
    if (is_taken) {
        connection_rest(exchange->connection);
        exchange->is_suspended = true;
        MHD_suspend_connection(exchange->mhd);
        TAILQ_INSERT_TAIL(queue_of(exchange), request, next);
        uv_async_send(&server->wake);
    }
    uv_mutex_unlock(&server->lock);
    if (!is_taken)
        reply_refuse(request, 503, "the server is stopping");
    return is_taken;
}

/* Called after the head. The library closes the connection if it is answered in the first
 * callback. For errors outside the body, therefore read and drop the body first, unless
 * the client expects "100 Continue". */
static enum MHD_Result begin_body(struct exchange *exchange)
{
    uint64_t announced = announced_body(exchange);

    exchange->phase = EXCHANGE_READING;
    if (exchange->request) {
        uv_mutex_lock(&exchange->server->lock);
        connection_wait(exchange->connection, REQUEST_MS);
        uv_mutex_unlock(&exchange->server->lock);
        buf_init(&exchange->request->body, max_body(exchange->request));
        return MHD_YES;
    }
    if (announced == 0 && !exchange->is_last)
        return MHD_YES;
    if (!exchange->is_last && exchange->status != 413 && !header(exchange, "Expect") &&
        (announced <= DISCARD_MAX || announced == UINT64_MAX))
        return MHD_YES;
    linger_start(exchange->server, exchange->connection->fd);
    return send_answer(exchange);
}

static enum MHD_Result begin(struct exchange *exchange, const char *method,
                             const char *version)
{
    snprintf(exchange->request->method, sizeof(exchange->request->method), "%s", method);
    exchange->line.method = method;
    exchange->line.version = version;
    check(exchange);
    if (exchange->request && exchange->phase == EXCHANGE_CHECKING_TOKEN &&
        hand_over(exchange))
        return MHD_YES;
    return begin_body(exchange);
}

/* Answer in the middle of a body, which the library does not support. Nothing is being
 * sent on a connection without TLS at this time. Therefore write the refusal directly to
 * the socket and let the library close the connection. */
static enum MHD_Result cut_with_answer(struct exchange *exchange, const char *detail)
{
    struct http_server *server = exchange->server;
    char *body = reply_problem_text(413, detail, NULL), text[1024];
    int len, fd = exchange->connection->fd;

    if (!server->is_tls) {
        len = snprintf(text, sizeof(text),
                       "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n"
                       "Content-Type: application/problem+json\r\n"
                       "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       strlen(body), body);
        if (len < (int)sizeof(text) &&
            send(fd, text, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) == len) {
            uv_mutex_lock(&server->lock);
            count_response(server, exchange, 413);
            uv_mutex_unlock(&server->lock);
        }
        linger_start(server, fd);
    }
    free(body);
    return MHD_NO;
}

static void keep_body(struct http_request *request, const char *data, size_t len)
{
    struct http_server *server = request->server;

    if (len > max_body(request) - request->body.len) {
        refuse_body(request);
    } else if (server->body_bytes + len > BODIES_MAX ||
               buf_append(&request->body, data, len)) {
        http_reply_header(request, "Retry-After", "1");
        reply_refuse(request, 503,
                     "the server is reading too many large bodies: try again later");
    } else {
        server->body_bytes += len;
    }
}

static enum MHD_Result take_body(struct exchange *exchange, const char *data,
                                 size_t *size)
{
    struct http_server *server = exchange->server;
    size_t len = *size;
    bool was_refused = !exchange->request;

    *size = 0;
    exchange->body_seen += len;
    uv_mutex_lock(&server->lock);
    connection_wait(exchange->connection,
                    exchange->begun_ms + REQUEST_MS +
                        exchange->body_seen * 1000 / BODY_BYTES_PER_S - now_ms());
    uv_mutex_unlock(&server->lock);
    if (!was_refused)
        keep_body(exchange->request, data, len);
    if (exchange->request)
        return MHD_YES;
    if (exchange->body_seen > DISCARD_MAX)
        return cut_with_answer(exchange, "the body is too large");
    if (!was_refused && exchange->status == 413 && !server->is_tls)
        return cut_with_answer(exchange, "the body is larger than this resource accepts");
    return MHD_YES;
}

/* Called when the request is complete. */
static enum MHD_Result end_body(struct exchange *exchange)
{
    struct http_request *request = exchange->request;

    exchange->phase = EXCHANGE_HANDLED;
    if (request && request->file)
        reply_static(request, request->file);
    else if (request && hand_over(exchange))
        return MHD_YES;
    return send_answer(exchange);
}

enum MHD_Result exchange_handle(void *cls, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version,
                                const char *upload, size_t *upload_size, void **context)
{
    struct exchange *exchange = *context;

    (void)cls;
    (void)mhd;
    (void)url;
    if (!exchange)
        return MHD_NO;
    switch (exchange->phase) {
    case EXCHANGE_NEW:
        return begin(exchange, method, version);
    case EXCHANGE_CHECKING_TOKEN:
        return begin_body(exchange);
    case EXCHANGE_READING:
        if (*upload_size > 0)
            return take_body(exchange, upload, upload_size);
        return end_body(exchange);
    case EXCHANGE_HANDLED:
        break;
    }
    return send_answer(exchange);
}
