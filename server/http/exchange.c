/* exchange.c - a request from its first line to its answer: checks, body, dispatch */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "server/http/internal.h"
#include "server/http/origin.h"

/* A request must be complete this long after its first line, plus a second for each of
 * these many bytes of body. */
#define REQUEST_MS 30000
#define BODY_BYTES_PER_S (32 * 1024)
/* An idle connection is kept this long. */
#define KEEP_ALIVE_MS 60000
/* A refused body up to this size is read and dropped so that the connection lives on. */
#define DISCARD_MAX ((uint64_t)1 << 20)
/* Of all bodies that are being read or handled. */
#define BODIES_MAX ((size_t)256 << 20)

/* What is made of bodies takes milliseconds: of a large one, or of a thousand that agents
 * send at the same time. So many bytes are handled in a turn of the loop, or one body,
 * and others wait for these and not for all; and as many of large ones, in a line of
 * their own, for which small ones do not wait. */
#define TURN_BYTES ((size_t)64 << 10)
#define LARGE_BODY ((size_t)16 << 10)
#define BODY_BYTES 1024 /* what each takes for itself, in bytes of one */
#define TURN_TEXTS 128  /* of answers that many get at once: 20 us for a start command */

static void on_lost(struct http_request *request)
{
    void (*gone)(void *data) = request->gone;

    shutdown(request->connection->fd, SHUT_RDWR);
    if (request->stream) {
        stream_cut(request->stream);
    } else if (gone && !request->response) {
        request->gone = NULL;
        request->is_lost = true;
        reply_finish(request, 503, reply_empty());
        gone(request->data);
    }
}

void *exchange_open(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    struct http_server *server = cls;
    struct http_connection *connection = connection_of(mhd);
    struct http_request *request;

    if (!connection)
        return NULL;
    request = calloc(1, sizeof(*request));
    if (!request)
        return NULL;
    request->server = server;
    request->connection = connection;
    request->lost = on_lost;
    request->begun_ms = uv_now(server->loop);
    request->line.uri = uri;
    request->line.uri_end = uri ? uri + strlen(uri) : NULL;
    target_parse(&request->target, uri ? uri : "", &request->target_error);
    TAILQ_INSERT_TAIL(&server->requests, request, all);
    connection->request = request;
    handshake_end(connection);
    deadline_set(connection, REQUEST_MS);
    return request;
}

void exchange_completed(void *cls, struct MHD_Connection *mhd, void **context,
                        enum MHD_RequestTerminationCode code)
{
    struct http_server *server = cls;
    struct http_request *request = *context;

    (void)mhd;
    (void)code;
    *context = NULL;
    if (!request)
        return;
    TAILQ_REMOVE(&server->requests, request, all);
    if (request->is_resuming)
        TAILQ_REMOVE(&server->resumes, request, resumes);
    server->body_bytes -= request->body.len;
    connection_unwatch(request->connection);
    request->connection->request = NULL;
    deadline_restart(request->connection, KEEP_ALIVE_MS);
    if (request->stream)
        stream_completed(request->stream);
    request->stream = NULL;
    request->connection = NULL;
    if (request->is_abandoned)
        request->server = NULL;
    else
        request_free(request);
}

static const char *header(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection->mhd, MHD_HEADER_KIND, name);
}

static bool is_safe_method(const char *method)
{
    return !strcmp(method, "GET") || !strcmp(method, "HEAD") ||
           !strcmp(method, "OPTIONS");
}

/* Without tokens the browser of whoever can reach us is the only guard, so other pages in
 * it must not be able to talk to us: see origin.h. A token can't be sent by accident. */
static bool refuse_foreign_page(struct http_request *request)
{
    const char *host = header(request, "Host"), *origin = header(request, "Origin");

    if (request->server->auth)
        return false;
    if (host && !origin_host_is_known(host, request->server->hosts)) {
        reply_refuse(request, 403,
                     "without a token file the server answers only to names in the Host "
                     "header that it knows: an address, localhost%s%s; --allow-host adds "
                     "others",
                     *request->server->hosts ? ", " : "", request->server->hosts);
        return true;
    }
    if (origin && !is_safe_method(request->method) &&
        !origin_matches_host(origin, host)) {
        reply_refuse(request, 403, "the Origin header names another site than Host");
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

/* Whether a slash at the end is all that keeps a path from a route. Such a path must not
 * be taken for a view of the UI: who watches "/healthz/" would be told that all is well.
 */
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

/* Whether a file stands for a path that has none of its own: a view of the UI. */
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
                     "no such page; without the slash at its end there is "
                     "one");
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
                         ? "; /openapi.json says which there are"
                         : "");
    else if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
        refuse_method(request, "GET, HEAD, OPTIONS");
}

static void find_route(struct http_request *request)
{
    if (!strcmp(request->target.path, "*") && !strcmp(request->method, "OPTIONS")) {
        refuse_method(request, "GET, HEAD, POST, DELETE, OPTIONS");
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

bool http_request_may(const struct http_request *request, enum http_role role)
{
    return !request->server->auth ||
           http_auth_check(request->server->auth, header(request, "Authorization"),
                           role) == 0;
}

const char *http_request_token(const struct http_request *request)
{
    return http_auth_bearer(header(request, "Authorization"));
}

const char *http_request_who(const struct http_request *request)
{
    return request->server->auth
               ? http_auth_name(request->server->auth, http_request_token(request))
               : NULL;
}

/* Agents of a job that the server asked for have a token of that job's. */
static bool is_guest(const struct http_request *request)
{
    const struct http_server *server = request->server;
    const char *token = http_request_token(request);

    return request->match.route->role == ROLE_AGENT && server->is_guest && token &&
           server->is_guest(server->guests, token);
}

static void check_role(struct http_request *request)
{
    const struct http_auth *auth = request->server->auth;
    const char *authorization = header(request, "Authorization"), *token;
    enum http_role role = request->match.route->role;
    int status;

    if (!auth || role == ROLE_NONE)
        return;
    token = target_query(&request->target, "access_token");
    if (!authorization && token && role == ROLE_VIEWER && is_safe_method(request->method))
        status = http_auth_check_token(auth, token, role);
    else
        status = http_auth_check(auth, authorization, role);
    if (status == 401 && is_guest(request))
        return;
    if (status == 401) {
        http_reply_header(request, "WWW-Authenticate", "Bearer realm=\"ringbench\"");
        reply_refuse(
            request, 401,
            "%s: send one as the header Authorization: Bearer TOKEN, with "
            "curl -H \"Authorization: Bearer $TOKEN\"; the page at / asks for it",
            authorization || token ? "no token of this server" : "this needs a token");
    } else if (status) {
        reply_refuse(request, 403, "the token's role does not allow this");
    }
}

/* Bytes of body to come; UINT64_MAX when it is chunked. */
static uint64_t announced_body(const struct http_request *request)
{
    const char *length = header(request, "Content-Length");

    if (header(request, "Transfer-Encoding"))
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

/* No body is unpacked here: a small one could become huge. */
static bool is_encoded(const struct http_request *request)
{
    const char *encoding = header(request, "Content-Encoding");

    return encoding && *encoding && strcasecmp(encoding, "identity") != 0;
}

/* Where this request ends must be beyond doubt, or what follows it on the connection
 * could be smuggled past a proxy in front of us. */
static bool refuse_doubtful_head(struct http_request *request)
{
    bool is_chunked;
    struct error err;

    if (head_check(request->connection->mhd, &request->line, &is_chunked, &err) == 0) {
        request->is_last = is_chunked && head_library_is_lenient();
        return false;
    }
    request->is_last = true;
    reply_refuse(request, 400, "%s", err.text);
    return true;
}

/* Everything that can be said before the body is read. */
static void check(struct http_request *request)
{
    if (refuse_doubtful_head(request))
        return;
    if (request->server->is_closing) {
        reply_refuse(request, 503, "the server is stopping");
        return;
    }
    if (request->target_error.code) {
        reply_refuse(request, request->target_error.code == ERROR_NOT_FOUND ? 404 : 400,
                     "%s", request->target_error.text);
        return;
    }
    if (refuse_foreign_page(request))
        return;
    find_route(request);
    if (!request->response && request->match.route)
        check_role(request);
    if (!request->response && announced_body(request) != UINT64_MAX &&
        announced_body(request) > max_body(request))
        refuse_body(request);
    if (!request->response && announced_body(request) > 0 && is_encoded(request)) {
        http_reply_header(request, "Accept-Encoding", "identity");
        reply_refuse(request, 415,
                     "the body must be sent as it is, with no "
                     "Content-Encoding");
    }
}

static void count_response(struct http_server *server, unsigned status)
{
    server->counters.requests++;
    if (status >= 500)
        server->counters.responses_5xx++;
    else if (status >= 400)
        server->counters.responses_4xx++;
    else if (status >= 200 && status < 300)
        server->counters.responses_2xx++;
}

static enum MHD_Result send_answer(struct http_request *request)
{
    struct MHD_Response *response = request->response;
    enum MHD_Result rc;

    request->response = NULL;
    if (request->stream)
        deadline_clear(request->connection);
    else
        deadline_restart_reading(request->connection);
    if (!request->is_abandoned) {
        request->server->body_bytes -= request->body.len;
        buf_release(&request->body);
    }
    if (!request->is_lost)
        count_response(request->server, request->status);
    rc = MHD_queue_response(request->connection->mhd, request->status, response);
    MHD_destroy_response(response);
    return rc;
}

static enum MHD_Result begin(struct http_request *request, const char *method,
                             const char *version)
{
    uint64_t announced;

    request->is_begun = true;
    snprintf(request->method, sizeof(request->method), "%s", method);
    request->line.method = method;
    request->line.version = version;
    check(request);
    if (!request->response) {
        buf_init(&request->body, max_body(request));
        return MHD_YES;
    }
    /* An answer in the library's first call costs the connection, so for what is not the
     * body's fault, read and drop the body first, unless the client waits to send it. */
    announced = announced_body(request);
    if (announced == 0 && !request->is_last)
        return MHD_YES;
    if (!request->is_last && request->status != 413 && !header(request, "Expect") &&
        (announced <= DISCARD_MAX || announced == UINT64_MAX))
        return MHD_YES;
    linger_start(request->server, request->connection->fd);
    return send_answer(request);
}

/* The library takes no answer in the middle of a body. On a plain connection nothing is
 * in flight at this point, so write the refusal ourselves and let it close. */
static enum MHD_Result cut_with_answer(struct http_request *request, const char *detail)
{
    struct http_server *server = request->server;
    char *body = reply_problem_text(413, detail, NULL), text[1024];
    int len;

    if (body && !server->is_tls) {
        len = snprintf(text, sizeof(text),
                       "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n"
                       "Content-Type: application/problem+json\r\n"
                       "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       strlen(body), body);
        if (len < (int)sizeof(text) && send(request->connection->fd, text, (size_t)len,
                                            MSG_NOSIGNAL | MSG_DONTWAIT) == len)
            count_response(server, 413);
        linger_start(server, request->connection->fd);
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
        reply_refuse(request, 503, "the server is reading too many large bodies now");
    } else {
        server->body_bytes += len;
        return;
    }
    server->body_bytes -= request->body.len;
    buf_release(&request->body);
}

static enum MHD_Result take_body(struct http_request *request, const char *data,
                                 size_t *size)
{
    size_t len = *size;
    bool was_refused = request->response;

    *size = 0;
    request->body_seen += len;
    deadline_set(request->connection, request->begun_ms + REQUEST_MS +
                                          request->body_seen * 1000 / BODY_BYTES_PER_S -
                                          uv_now(request->server->loop));
    if (!was_refused)
        keep_body(request, data, len);
    if (request->response && request->body_seen > DISCARD_MAX)
        return cut_with_answer(request, "the body is too large");
    if (!was_refused && request->response && request->status == 413 &&
        !request->server->is_tls)
        return cut_with_answer(request, "the body is larger than this resource takes");
    return MHD_YES;
}

void exchange_abandon(struct http_request *request)
{
    void (*gone)(void *data) = request->gone;

    if (request->response)
        return;
    request->gone = NULL;
    reply_refuse(request, 503, "the server is stopping");
    if (gone)
        gone(request->data);
    else
        request->is_abandoned = true;
}

void exchange_begin_turn(struct http_server *server)
{
    server->bodies[0].turn_left = server->bodies[1].turn_left = TURN_BYTES;
    server->texts_left = TURN_TEXTS;
}

static struct http_body_line *line_of(const struct http_request *request)
{
    return &request->server->bodies[request->body.len > LARGE_BODY];
}

/* Whether the turn has room for it, which it then takes. */
static bool take_room(const struct http_request *request)
{
    struct http_body_line *line = line_of(request);
    size_t bytes = request->body.len + BODY_BYTES;

    if (bytes > line->turn_left && line->turn_left < TURN_BYTES)
        return false;
    line->turn_left -= bytes < line->turn_left ? bytes : line->turn_left;
    return true;
}

static void leave_bodies(void *data)
{
    struct http_request *request = data;

    TAILQ_REMOVE(&line_of(request)->requests, request, bodies);
}

static void handle_line(struct http_body_line *line)
{
    struct http_request *request;

    while ((request = TAILQ_FIRST(&line->requests)) && take_room(request)) {
        leave_bodies(request);
        http_request_park(request, NULL, NULL);
        request->match.route->handler(request, request->server->arg);
    }
}

void exchange_handle_bodies(struct http_server *server)
{
    handle_line(&server->bodies[0]);
    handle_line(&server->bodies[1]);
}

bool exchange_has_bodies(const struct http_server *server)
{
    return !TAILQ_EMPTY(&server->bodies[0].requests) ||
           !TAILQ_EMPTY(&server->bodies[1].requests);
}

/* Those without a body take little, and go past the others. */
static bool waits(struct http_request *request)
{
    return request->body.len > 0 &&
           (!TAILQ_EMPTY(&line_of(request)->requests) || !take_room(request));
}

static enum MHD_Result dispatch(struct http_request *request)
{
    struct http_server *server = request->server;

    deadline_clear(request->connection);
    if (server->is_closing) {
        reply_refuse(request, 503, "the server is stopping");
    } else if (request->file) {
        reply_static(request, request->file);
    } else if (waits(request)) {
        TAILQ_INSERT_TAIL(&line_of(request)->requests, request, bodies);
        http_request_park(request, leave_bodies, request);
    } else {
        request->match.route->handler(request, server->arg);
    }
    if (request->response)
        return send_answer(request);
    MHD_suspend_connection(request->connection->mhd);
    request->is_suspended = true;
    request->server->n_suspended++;
    if (server->is_closing)
        exchange_abandon(request); /* the handler closed the server and gave no answer */
    else if (request->gone)
        connection_watch_end(request->connection);
    return MHD_YES;
}

enum MHD_Result exchange_handle(void *cls, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version,
                                const char *upload, size_t *upload_size, void **context)
{
    struct http_request *request = *context;

    (void)cls;
    (void)mhd;
    (void)url;
    if (!request)
        return MHD_NO;
    if (!request->is_begun)
        return begin(request, method, version);
    if (*upload_size > 0)
        return take_body(request, upload, upload_size);
    if (request->response)
        return send_answer(request);
    return dispatch(request);
}
