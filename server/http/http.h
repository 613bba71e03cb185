/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - the HTTP server: libmicrohttpd reads and writes on threads of its own. Routes
 * are a table; handlers run on the loop's thread, answer at once or later, or stream. All
 * functions are called there. */
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

/* What a caller must be allowed to do; from weakest. ROLE_AGENT and ROLE_OPERATOR include
 * viewing; they do not include each other. */
enum http_role { ROLE_NONE, ROLE_VIEWER, ROLE_OPERATOR, ROLE_AGENT };

/* A handler owes exactly one answer: a reply or a stream, now or later. It still does
 * when the server closed in the meantime (the answer then goes nowhere), unless it parked
 * the request and `gone` ran. */
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
    const struct http_auth *auth;   /* NULL: everyone may do everything */
    const char
        *hosts; /* "NAME,...", what Host may say then, beside addresses and localhost */
    unsigned max_connections; /* 0: 30000 */
    unsigned max_streams;     /* 0: 2000 */
    size_t max_unread;        /* bytes of streams and large answers; 0: 64 MiB */
};

/* Bind, listen and serve `routes` (terminated by a NULL method; borrowed for life; the
 * first that matches answers). `arg` goes to every handler. `config` may go after the
 * call, but not its auth. Connections are limited to the descriptors that the process may
 * open. NULL on failure. */
struct http_server *http_server_create(uv_loop_t *loop, const struct http_config *config,
                                       const struct http_route *routes, void *arg,
                                       struct error *err);

/* Whether a token that is not in the token file is an agent's; see
 * http_server_set_guests. */
typedef bool http_guest(void *arg, const char *token);

/* Let agents in with tokens of another source. */
void http_server_set_guests(struct http_server *server, http_guest *is_guest, void *arg);

/* The bearer token of the request, or NULL; borrowed. */
const char *http_request_token(const struct http_request *request);

/* Whose it is by the token file, or NULL; borrowed. */
const char *http_request_who(const struct http_request *request);

/* From the next request on, ask for these tokens; those before may go. */
void http_server_set_auth(struct http_server *server, const struct http_auth *auth);

/* From the next connection on, show this certificate (PEM texts, only read). For a server
 * with TLS. -1: the one before stays. */
int http_server_set_certificate(struct http_server *server, char *cert, char *key,
                                struct error *err);

/* The bound address, for port 0. */
void http_server_address(const struct http_server *server, struct sockaddr_storage *out);

/* It as "https://ADDRESS:PORT". -1: it can't be told. */
#define HTTP_URL_MAX (NI_MAXHOST + NI_MAXSERV + 16)
int http_server_url(const struct http_server *server, char url[HTTP_URL_MAX]);

/* Requests answered and connections and streams open now, for metrics. */
struct http_counters {
    uint64_t requests, responses_2xx, responses_4xx, responses_5xx;
    /* From a request's head until its answer's, of agents and of everybody else. */
    struct histogram agents_took, clients_took;
    unsigned connections, streams;
    unsigned waiting;      /* connections that have not sent the head of a request */
    uint64_t unread_bytes; /* of streams and large answers */
    uint64_t dropped;      /* clients that read too little of them */
    uint64_t reclaimed;    /* connections closed to make room */
    uint64_t refused;      /* with no room to make */
};
void http_server_counters(struct http_server *server, struct http_counters *out);

/* Stop: unanswered requests get 503, streams end; the `gone` of both runs before this
 * returns, and may write a last word to its stream or abort it. Clients have a second to
 * take what is queued. `closed` (may be NULL) runs on the loop when every handle is
 * closed and the server is freed. */
void http_server_close(struct http_server *server, void (*closed)(void *arg), void *arg);

/* The request. Strings are borrowed and live until the answer is given; headers are NULL
 * once the server closed. Paths, parameters and query values are decoded, valid UTF-8. */
const char *http_request_param(const struct http_request *request, const char *name);
const char *http_request_query(const struct http_request *request, const char *name);
/* Call `each` for every value of a repeatable query parameter. */
void http_request_query_each(const struct http_request *request, const char *name,
                             void (*each)(void *arg, const char *value), void *arg);
const char *http_request_header(const struct http_request *request, const char *name);
const char *http_request_body(const struct http_request *request, size_t *len);
/* The same, to be freed by the caller, also when the client has left. The request has
 * none from then on. */
char *http_request_take_body(struct http_request *request, size_t *len);
/* The address that it comes from, "" if there is none. An IPv4 address in IPv6 form is
 * given as IPv4. */
void http_request_peer(const struct http_request *request, char out[NI_MAXHOST]);
/* Whether who asks could ask for what takes this role; anybody, where no tokens are. */
bool http_request_may(const struct http_request *request, enum http_role role);
/* Which of `types` (NULL-terminated, "application/json") the Accept header likes best by
 * its q values; the first when there is no header; -1 when none is acceptable. */
int http_request_accepts(const struct http_request *request, const char *const *types);

/* Remember `data` until the answer: a handler that answers later sets `gone`, which runs
 * on the loop if the client disconnects first (also if it only closes its sending half)
 * or the server closes; the request must not be used after it. Leave it out where work is
 * under way that needs the request to its end: then only the answer ends it. */
void http_request_park(struct http_request *request, void (*gone)(void *data),
                       void *data);

/* Add a header to the answer to come (copied). */
void http_reply_header(struct http_request *request, const char *name, const char *value);

/* The answers. Each ends the request. json is stolen; if it is NULL, the answer is 500.
 */
void http_reply_json(struct http_request *request, int status, json_t *json);
/* The same for what many get at once and that may be large: waits, as JSON, while clients
 * have too much to read, so that none is dropped for what others get. */
void http_reply_json_in_turn(struct http_request *request, int status, json_t *json);
void http_reply_text(struct http_request *request, int status, const char *content_type,
                     const char *text, size_t len);
/* The same with a text of malloc(), which is taken. */
void http_reply_taken_text(struct http_request *request, int status,
                           const char *content_type, char *text, size_t len);
void http_reply_empty(struct http_request *request, int status);
void http_reply_problem(struct http_request *request, int status,
                        const struct problems *problems, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The one place that maps error codes to statuses. */
void http_reply_error(struct http_request *request, const struct error *err);

/* Begin a response of unknown length. The request is spent; the stream lives until
 * http_stream_end or until `gone` ran (client left, or server closing). NULL after an
 * answer was given: to HEAD, or 503 when there are too many streams. */
struct http_stream *http_stream_begin(struct http_request *request, int status,
                                      const char *content_type, void (*gone)(void *data),
                                      void *data);

/* Queue bytes (copied). Returns the bytes now queued and unsent. A client for which 64
 * MiB pile up is dropped, and `gone` runs: stop writing when the stream is full, and go
 * on when drained. When all clients together have too much to read, the one that has read
 * nothing for longest is dropped. */
size_t http_stream_write(struct http_stream *stream, const void *data, size_t len);
/* It has a MiB to read, or something while the server has much to send to all. */
bool http_stream_is_full(const struct http_stream *stream);
size_t http_stream_queued(const struct http_stream *stream);

/* `drained` runs on the loop each time the queue has become empty. */
void http_stream_on_drain(struct http_stream *stream, void (*drained)(void *data));

/* Send what is queued, then end the response. `gone` and `drained` will not run. */
void http_stream_end(struct http_stream *stream);

/* The same for a response that is not whole: the connection is broken off without the
 * mark of its end, so that no client takes it for complete. Also from within `gone`, when
 * the server closes. */
void http_stream_abort(struct http_stream *stream);

#endif
