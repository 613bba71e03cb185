/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - the HTTP server. libmicrohttpd reads requests and writes answers on its own
 * threads. A table lists the routes. Their handlers run on the loop's thread and answer
 * at once, answer later, or stream. All functions are called on the loop's thread. */
#ifndef RINGBENCH_SERVER_HTTP_HTTP_H
#define RINGBENCH_SERVER_HTTP_HTTP_H

#include <jansson.h>
#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/base/histogram.h"
#include "common/base/problem.h"

struct http_server;
struct http_request;
struct http_stream;

/* The role that a route requires of its client. ROLE_AGENT and ROLE_OPERATOR each include
 * ROLE_VIEWER, but not each other. */
enum http_role { ROLE_NONE, ROLE_VIEWER, ROLE_OPERATOR, ROLE_AGENT };

/* A handler must answer exactly once, now or later, with a reply or a stream. After the
 * server has closed, it must still answer, but the answer is dropped. The only exception
 * is a parked request whose `gone` has run. */
typedef void http_handler(struct http_request *request, void *arg);

struct http_route {
    const char *method;  /* "GET", "POST", "PATCH", "DELETE"; GET answers HEAD too */
    const char *pattern; /* "/api/v1/runs/{id}"; {name} matches one path segment */
    enum http_role role;
    size_t max_body; /* bytes; 0 = no body expected */
    http_handler *handler;
};

struct http_config {
    struct sockaddr_storage listen;
    const char *tls_cert, *tls_key; /* PEM text, or NULL for plain HTTP */
    const char *web_dir;            /* static files under "/", or NULL */
    const struct http_auth *auth;   /* NULL: every client has every role */
    /* "NAME,...": names that the Host header may contain when there is no auth, besides
     * addresses and localhost */
    const char *hosts;
    unsigned max_connections; /* 0: 30000 */
    unsigned max_streams;     /* 0: 2000 */
    /* limit for the unread bytes of streams and large answers; 0: 64 MiB */
    size_t max_unread;
};

/* Bind, listen and serve `routes`. The table ends with a NULL method and is borrowed
 * while the server exists; the first matching route answers. Every handler gets `arg`.
 * `config` may be freed after the call, but config->auth may not. The process's limit on
 * file descriptors also limits the connections. NULL on failure. */
struct http_server *http_server_create(uv_loop_t *loop, const struct http_config *config,
                                       const struct http_route *routes, void *arg,
                                       struct error *err);

/* True if a token that is not in the token file belongs to an agent. */
typedef bool http_token_check(void *arg, const char *token);

/* Also accept tokens of agents for which `check` returns true. */
void http_server_set_token_check(struct http_server *server,
                                 http_token_check *is_agent_token, void *arg);

/* Return the request's bearer token, borrowed; NULL if there is none. */
const char *http_request_token(const struct http_request *request);

/* Return the user that the token file names for the request's token, borrowed; NULL if
 * there is none. */
const char *http_request_who(const struct http_request *request);

/* Use these tokens from the next request on. The previous `auth` may be freed
 * afterwards. */
void http_server_set_auth(struct http_server *server, const struct http_auth *auth);

/* Use this certificate (PEM texts, not modified) from the next connection on. The server
 * must use TLS. Returns -1 and keeps the previous certificate if this one is invalid. */
int http_server_set_certificate(struct http_server *server, char *cert, char *key,
                                struct error *err);

/* Write the bound address. If port 0 was requested, it contains the actual port. */
void http_server_address(const struct http_server *server, struct sockaddr_storage *out);

/* Write the bound address as "https://ADDRESS:PORT". Returns -1 if it cannot be
 * formatted. */
#define HTTP_URL_MAX (NI_MAXHOST + NI_MAXSERV + 16)
int http_server_url(const struct http_server *server, char url[HTTP_URL_MAX]);

/* For metrics: the requests answered so far, and the connections and streams that are
 * open. */
struct http_counters {
    uint64_t requests, responses_2xx, responses_4xx, responses_5xx;
    /* Time from a request's head to its answer's head, for agents and for all other
     * clients. */
    struct histogram agents_took, clients_took;
    unsigned connections, streams;
    unsigned waiting;      /* connections without a complete request head */
    uint64_t unread_bytes; /* unread bytes of streams and large answers */
    uint64_t dropped;      /* clients dropped for reading too slowly */
    uint64_t reclaimed;    /* connections closed to make room */
    uint64_t refused;      /* connections refused for lack of room */
};
void http_server_counters(struct http_server *server, struct http_counters *out);

/* Stop the server: unanswered requests get 503, and streams end. The `gone` callbacks of
 * requests and streams run before this function returns. A stream's callback may still
 * write or abort. Clients have a second to receive what is queued. `closed` (may be NULL)
 * runs on the loop when every handle is closed and the server is freed. */
void http_server_close(struct http_server *server, void (*closed)(void *arg), void *arg);

/* ---- The request ----
 * Strings are borrowed and live until the answer is given. Once the server has closed,
 * headers are NULL. Paths, parameters and query values are decoded and valid UTF-8. */
const char *http_request_param(const struct http_request *request, const char *name);
const char *http_request_query(const struct http_request *request, const char *name);
/* Call `each` for every value of a query parameter that may repeat. */
void http_request_query_each(const struct http_request *request, const char *name,
                             void (*each)(void *arg, const char *value), void *arg);
const char *http_request_header(const struct http_request *request, const char *name);
const char *http_request_body(const struct http_request *request, size_t *len);
/* Take the body, even if the client has left. The caller frees it. Afterwards the request
 * has no body. */
char *http_request_take_body(struct http_request *request, size_t *len);
/* Write the client's address, "" if it is unknown. An IPv4-mapped IPv6 address is written
 * as IPv4. */
void http_request_peer(const struct http_request *request, char out[NI_MAXHOST]);
/* True if the client has this role; always true without tokens. */
bool http_request_may(const struct http_request *request, enum http_role role);
/* Return the index in `types` of the media type that the Accept header prefers by its q
 * values. `types` ends with NULL; a type is written as "application/json". 0 if there is
 * no header, -1 if the header accepts none of the types. */
int http_request_accepts(const struct http_request *request, const char *const *types);

/* Keep the request for a later answer. `gone` runs on the loop with `data` if, before the
 * answer, the server closes or the client closes at least its sending half. Afterwards
 * the request must not be used. If `gone` is NULL, the request lives until its answer
 * even if the client has left. */
void http_request_park(struct http_request *request, void (*gone)(void *data),
                       void *data);

/* Add a header (copied) to the answer. */
void http_reply_header(struct http_request *request, const char *name, const char *value);

/* ---- Answers ----
 * Each function ends the request. json is stolen; if it is NULL, the answer is 500. */
void http_reply_json(struct http_request *request, int status, json_t *json);
/* Use this for large answers that many clients request at the same time. While clients
 * have too much unread data, the answer waits as JSON. It therefore causes no client to
 * be dropped. */
void http_reply_json_in_turn(struct http_request *request, int status, json_t *json);
void http_reply_text(struct http_request *request, int status, const char *content_type,
                     const char *text, size_t len);
/* Answer with `text`, which was allocated by malloc(). Takes ownership of it. */
void http_reply_taken_text(struct http_request *request, int status,
                           const char *content_type, char *text, size_t len);
void http_reply_empty(struct http_request *request, int status);
void http_reply_problem(struct http_request *request, int status,
                        const struct problems *problems, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Answer with a problem document. This function alone maps error codes to HTTP
 * statuses. */
void http_reply_error(struct http_request *request, const struct error *err);

/* Begin a response of unknown length, which ends the request. The stream lives until
 * http_stream_end(), or until `gone` has run because the client left or the server
 * closes. Returns NULL if the request was answered instead: a HEAD request, or 503 when
 * there are too many streams. */
struct http_stream *http_stream_begin(struct http_request *request, int status,
                                      const char *content_type, void (*gone)(void *data),
                                      void *data);

/* Queue bytes, which are copied. Returns the number of bytes queued and unsent. A client
 * with 64 MiB unread is dropped, and `gone` runs. The writer should therefore stop when
 * the stream is full and continue after `drained`. If all clients together have too much
 * unread, the server drops the client that has gone longest without reading. */
size_t http_stream_write(struct http_stream *stream, const void *data, size_t len);
/* True if more than 1 MiB is queued. While the total of unread data of all clients is
 * high, true if anything is queued. */
bool http_stream_is_full(const struct http_stream *stream);
size_t http_stream_queued(const struct http_stream *stream);

/* `drained` runs on the loop each time the queue becomes empty. */
void http_stream_on_drain(struct http_stream *stream, void (*drained)(void *data));

/* Send what is queued, then end the response. `gone` and `drained` will not run. */
void http_stream_end(struct http_stream *stream);

/* End an incomplete response: the connection closes without the end marker, so the client
 * notices that the response is incomplete. May be called from `gone` when the server
 * closes. */
void http_stream_abort(struct http_stream *stream);

#endif
