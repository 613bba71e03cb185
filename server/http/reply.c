/* SPDX-License-Identifier: Apache-2.0 */
/* reply.c - sends answers: JSON, text, problem documents, files */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/http/internal.h"
#include "server/http/negotiate.h"

/* Larger answers are sent in pieces, so that the server notices whether the client reads.
 */
#define LARGE ((size_t)64 << 10)

#define PLAIN_MAX ((size_t)1 << 20)

static const char ui_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: "
    "blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

/* Return a response that consists of these malloc'ed bytes. Takes ownership of `data`. */
static struct MHD_Response *response_of(const struct http_request *request, char *data,
                                        size_t len)
{
    struct MHD_Response *response;

    if (len >= LARGE && request->exchange)
        return send_text(request->exchange, data, len);
    response = MHD_create_response_from_buffer(len, data, MHD_RESPMEM_MUST_FREE);
    if (!response)
        memory_out("an answer");
    return response;
}

void http_reply_header(struct http_request *request, const char *name, const char *value)
{
    struct http_reply_header *header = &request->headers[request->n_headers];

    if (request->n_headers == HTTP_HEADERS_MAX) {
        log_error("http: more than %d headers in an answer", HTTP_HEADERS_MAX);
        return;
    }
    header->name = memory_text(name, "an answer");
    header->value = memory_text(value, "an answer");
    request->n_headers++;
}

static void add_headers(const struct http_request *request, struct MHD_Response *response)
{
    for (size_t i = 0; i < request->n_headers; i++)
        MHD_add_response_header(response, request->headers[i].name,
                                request->headers[i].value);
    if (request->exchange->is_last)
        MHD_add_response_header(response, "Connection", "close");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (!MHD_get_response_header(response, "Cache-Control"))
        MHD_add_response_header(response, "Cache-Control", "no-store");
}

struct MHD_Response *reply_empty(void)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

    if (!response)
        memory_out("an answer");
    return response;
}

/* Once its connection resumes, the exchange belongs to the library's thread again. */
static void hand_back(struct exchange *exchange, int status,
                      struct MHD_Response *response)
{
    exchange->request = NULL;
    exchange->response = response;
    exchange->status = (unsigned)status;
    if (!exchange->is_suspended)
        return;
    exchange->is_suspended = false;
    MHD_resume_connection(exchange->mhd);
}

void reply_finish(struct http_request *request, int status, struct MHD_Response *response)
{
    struct exchange *exchange = request->exchange;

    if (!exchange) { /* the server closed and has already answered */
        MHD_destroy_response(response);
        request_free(request);
        return;
    }
    add_headers(request, response);
    request_free(request);
    hand_back(exchange, status, response);
}

void http_reply_taken_text(struct http_request *request, int status,
                           const char *content_type, char *text, size_t len)
{
    struct MHD_Response *response = response_of(request, text, len);

    MHD_add_response_header(response, "Content-Type", content_type);
    reply_finish(request, status, response);
}

/* Return the JSON (stolen) as a line of text for terminals. NULL if there is no value, or
 * if it contains invalid UTF-8. */
static char *json_line(json_t *json, size_t *len)
{
    char *text = json_text(json), *line = NULL;

    json_decref(json);
    *len = text ? strlen(text) + 1 : 0;
    if (text && !(line = realloc(text, *len + 1)))
        memory_out("an answer");
    if (line)
        memcpy(line + *len - 1, "\n", 2);
    return line;
}

void http_reply_json(struct http_request *request, int status, json_t *json)
{
    size_t len;
    char *text = json_line(json, &len);

    if (text) {
        http_reply_taken_text(request, status, "application/json", text, len);
        return;
    }
    log_error("http: an answer to %s contains invalid UTF-8", request->method);
    reply_refuse(request, 500, "the answer contains invalid UTF-8");
}

static void end_turn(struct http_request *request)
{
    TAILQ_REMOVE(&request->server->turns, request, turns);
    http_request_park(request, NULL, NULL);
}

static void on_turn_gone(void *data)
{
    struct http_request *request = data;

    end_turn(request);
    json_decref(request->in_turn);
}

static bool is_turn(struct http_server *server)
{
    bool is_high;

    uv_mutex_lock(&server->lock);
    is_high = send_is_high(server);
    uv_mutex_unlock(&server->lock);
    return server->texts_left > 0 && !is_high;
}

static void note_turns(struct http_server *server)
{
    uv_mutex_lock(&server->lock);
    server->has_turns = !TAILQ_EMPTY(&server->turns);
    uv_mutex_unlock(&server->lock);
}

void http_reply_json_in_turn(struct http_request *request, int status, json_t *json)
{
    struct http_server *server = request->server;

    if (!json || !request->exchange || server->is_closing ||
        (TAILQ_EMPTY(&server->turns) && is_turn(server))) {
        if (request->exchange)
            server->texts_left -= server->texts_left > 0;
        http_reply_json(request, status, json);
        return;
    }
    request->in_turn = json;
    request->exchange->status = (unsigned)status;
    TAILQ_INSERT_TAIL(&server->turns, request, turns);
    http_request_park(request, on_turn_gone, request);
    note_turns(server);
    uv_async_send(&server->wake);
}

void reply_turns(struct http_server *server)
{
    struct http_request *request;

    if (TAILQ_EMPTY(&server->turns))
        return;
    while (is_turn(server) && (request = TAILQ_FIRST(&server->turns))) {
        server->texts_left--;
        end_turn(request);
        http_reply_json(request, (int)request->exchange->status, request->in_turn);
    }
    note_turns(server);
}

void http_reply_text(struct http_request *request, int status, const char *content_type,
                     const char *text, size_t len)
{
    char *copy = memory_zeroed(1, len + 1, "an answer");

    if (len > 0)
        memcpy(copy, text, len);
    http_reply_taken_text(request, status, content_type, copy, len);
}

void http_reply_empty(struct http_request *request, int status)
{
    reply_finish(request, status, reply_empty());
}

char *reply_problem_text(int status, const char *detail, const struct problems *problems)
{
    size_t len;
    char *text = json_line(problem_document(status, detail, problems), &len);

    return text ? text : memory_text("{}\n", "an answer");
}

/* Return a problem as text for terminals: "error 422: 1 field of the spec is wrong", then
 * one line per field. */
static char *plain_text(int status, const char *detail, const struct problems *problems)
{
    json_t *document = problem_document(status, detail, problems), *fault;
    json_t *shown = clean_text_shown(document, false);
    struct buf out;
    size_t i;

    buf_init(&out, PLAIN_MAX);
    buf_printf(&out, "error %d: %s\n", status, json_get_str(shown, "detail", ""));
    json_array_foreach (json_object_get(shown, "errors"), i, fault)
        buf_printf(&out, "%s: %s\n", json_get_str(fault, "pointer", ""),
                   json_get_str(fault, "detail", ""));
    json_decref(document);
    json_decref(shown);
    return buf_detach(&out, NULL);
}

static void reply_problem_va(struct http_request *request, int status,
                             const struct problems *problems, const char *format,
                             va_list args) __attribute__((format(printf, 4, 0)));

static void reply_problem_va(struct http_request *request, int status,
                             const struct problems *problems, const char *format,
                             va_list args)
{
    static const char *const types[] = {"application/problem+json", "application/json",
                                        "text/plain", NULL};
    bool is_plain = http_request_accepts(request, types) == 2;
    char detail[1024], *text;

    vsnprintf(detail, sizeof(detail), format, args);
    text = is_plain ? plain_text(status, detail, problems)
                    : reply_problem_text(status, detail, problems);
    http_reply_taken_text(request, status,
                          is_plain ? "text/plain; charset=utf-8" : types[0], text,
                          strlen(text));
}

void http_reply_problem(struct http_request *request, int status,
                        const struct problems *problems, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    reply_problem_va(request, status, problems, format, args);
    va_end(args);
}

void reply_refuse(struct http_request *request, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    reply_problem_va(request, status, NULL, format, args);
    va_end(args);
}

void reply_unauthorized(struct http_request *request)
{
    bool has_token = http_request_header(request, "Authorization") ||
                     target_query(&request->target, "access_token");

    http_reply_header(request, "WWW-Authenticate", "Bearer realm=\"ringbench\"");
    reply_refuse(request, 401,
                 "%s: send one as the header Authorization: Bearer TOKEN, with "
                 "curl -H \"Authorization: Bearer $TOKEN\"; the page at / asks for it",
                 has_token ? "unknown token" : "token required");
}

static int status_of(enum error_code code)
{
    switch (code) {
    case ERROR_INVALID:
        return 400;
    case ERROR_DENIED:
        return 403;
    case ERROR_NOT_FOUND:
        return 404;
    case ERROR_CONFLICT:
        return 409;
    case ERROR_LIMIT:
    case ERROR_UNSUPPORTED:
        return 422;
    case ERROR_PEER:
        return 502;
    case ERROR_MEMORY:
    case ERROR_IO:
    case ERROR_UNAVAILABLE:
        return 503;
    case ERROR_UNREACHABLE:
    case ERROR_TIMEOUT:
        return 504;
    case ERROR_NONE:
    case ERROR_INTERNAL:
        break;
    }
    return 500;
}

void http_reply_error(struct http_request *request, const struct error *err)
{
    int status = status_of(err->code);

    if (status >= 500)
        log_warn("http: %s %s: %s", request->method,
                 request->target.path ? request->target.path : "?", err->text);
    if (status == 503)
        http_reply_header(request, "Retry-After", "1");
    reply_refuse(request, status, "%s", err->text);
}

static void add_file_headers(struct http_request *request, const struct static_file *file,
                             const char *etag)
{
    http_reply_header(request, "ETag", etag);
    http_reply_header(request, "Cache-Control",
                      file->is_immutable ? "public, max-age=31536000, immutable"
                                         : "no-cache");
    http_reply_header(request, "Content-Security-Policy", ui_policy);
    http_reply_header(request, "Referrer-Policy", "no-referrer");
    http_reply_header(request, "Cross-Origin-Opener-Policy", "same-origin");
    http_reply_header(request, "Cross-Origin-Resource-Policy", "same-origin");
    if (file->gzip_data)
        http_reply_header(request, "Vary", "Accept-Encoding");
}

void reply_static(struct http_request *request, const struct static_file *file)
{
    bool is_gzip =
        file->gzip_data &&
        negotiate_encoding(http_request_header(request, "Accept-Encoding"), "gzip");
    const char *etag = is_gzip ? file->gzip_etag : file->etag;
    struct MHD_Response *response;

    add_file_headers(request, file, etag);
    if (static_etag_matches(http_request_header(request, "If-None-Match"), etag)) {
        reply_finish(request, 304, reply_empty());
        return;
    }
    /* Persistent: the files live as long as the server, which outlives its responses. */
    response = MHD_create_response_from_buffer(is_gzip ? file->gzip_len : file->len,
                                               is_gzip ? file->gzip_data : file->data,
                                               MHD_RESPMEM_PERSISTENT);
    if (!response)
        memory_out("an answer");
    http_reply_header(request, "Content-Type", file->content_type);
    if (is_gzip)
        http_reply_header(request, "Content-Encoding", "gzip");
    reply_finish(request, 200, response);
}
