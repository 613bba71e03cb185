/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - declarations shared by the files of server/http, and included nowhere
 * else.
 *
 * The library reads requests and writes answers on its own threads. Two structs represent
 * a request. The exchange belongs to the library's thread: it begins with the first line
 * of a request, and is freed when the answer was sent or the connection died. The loop
 * uses the exchange only to set the answer, while the connection is suspended. The
 * request is the part that a handler uses: the library's thread fills it and passes it to
 * the loop, and the loop frees it with the answer.
 *
 * `lock` protects data that both threads use. A comment says so where a function must be
 * called with the lock held. Lock order: `lock`, then the library's own locks. No handler
 * runs with the lock held. */
#ifndef RINGBENCH_SERVER_HTTP_INTERNAL_H
#define RINGBENCH_SERVER_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "common/base/buf.h"
#include "server/http/auth.h"
#include "server/http/certificate.h"
#include "server/http/head.h"
#include "server/http/http.h"
#include "server/http/router.h"
#include "server/http/static_files.h"
#include "server/http/target.h"

#define HTTP_HEADERS_MAX 16

/* A socket that nobody reads at the moment, and the callback that runs when its client
 * closes it. */
struct watch {
    void *owner;
    int fd;
    void (*callback)(struct watch *watch); /* runs on the loop with the lock held */
    bool is_active;
};

/* A connection; freed when the library ends it. */
struct http_connection {
    struct http_server *server;
    /* NULL: the session uses the certificate given at start, or there is no TLS */
    struct certificate *certificate;
    int fd;
    bool has_sent_line; /* the client has sent the first line of a request */
    bool is_waiting;    /* the connection is in server->waiting */
    /* whether input has ended was checked during this wait, or need not be checked */
    bool is_peeked;
    bool is_evicted; /* is being closed to make room for another connection */
    uint64_t deadline_ms;
    TAILQ_ENTRY(http_connection) waiting;
};

TAILQ_HEAD(http_connection_list, http_connection);

enum exchange_phase {
    EXCHANGE_NEW,
    EXCHANGE_CHECKING_TOKEN, /* waits until the loop has checked the token */
    EXCHANGE_READING,        /* reads the body */
    EXCHANGE_HANDLED         /* passed to the loop, or answered */
};

struct exchange {
    struct http_server *server;
    struct http_connection *connection;
    struct MHD_Connection *mhd;
    struct http_request *request; /* NULL once answered */
    struct head_line line;
    enum exchange_phase phase;
    uint64_t begun_ms, body_seen; /* body_seen: bytes of body read, kept or dropped */
    struct MHD_Response *response;
    unsigned status;
    bool is_suspended;
    bool is_stream;
    bool is_of_agent; /* the route requires ROLE_AGENT */
    bool is_lost;     /* the client left before the answer */
    bool is_last;     /* the connection closes after the answer */
};

struct http_reply_header {
    char *name, *value;
};

struct http_request {
    struct http_server *server;
    struct exchange *exchange; /* NULL: the server has answered instead of the handler */
    char method[32]; /* may be truncated, because no route uses a longer method */
    struct router_match match;
    const struct static_file *file;
    struct target target;
    struct error target_error;
    struct buf body;
    struct http_reply_header headers[HTTP_HEADERS_MAX];
    size_t n_headers;
    json_t *in_turn; /* the answer, which waits in server->turns */
    void (*gone)(void *data);
    void *data;
    struct watch watch; /* active while `gone` is set */
    bool is_handled;    /* the request is in server->handled */
    TAILQ_ENTRY(http_request) next, turns;
};

TAILQ_HEAD(http_request_list, http_request);

/* An answer that is sent in pieces (send.c). A stream has a writer that adds data. A text
 * is complete from the start. */
struct http_stream {
    struct http_server *server;
    struct http_connection *connection;
    struct MHD_Connection *mhd;
    bool is_text;

    /* Used on the loop only. */
    void (*gone)(void *data);
    void (*drained)(void *data);
    void *data;
    bool is_gone; /* `gone` is running or has run */
    TAILQ_ENTRY(http_stream) all;

    /* Guarded by the lock. */
    struct buf queue;
    size_t sent;   /* bytes of `queue` that were sent; at most half of it */
    unsigned tick; /* server->tick when its client last read */
    struct watch watch;
    bool is_suspended; /* the library waits for more data */
    bool is_due;       /* the stream is in server->due */
    bool is_over;      /* the library no longer uses the stream */
    bool is_ended;     /* the writer no longer uses the stream */
    bool is_cut;       /* nothing more is sent */
    bool is_partial;   /* the client must see that the response is incomplete */
    bool is_noticed;
    TAILQ_ENTRY(http_stream) notices, unread, due;
};

/* Connections that wait for their TLS handshake (accept.c). */
struct handshake;
#define HANDSHAKE_RANKS 5
#define HANDSHAKE_ADDRESSES 1024

struct handshakes {
    TAILQ_HEAD(, handshake) ranks[HANDSHAKE_RANKS];
    unsigned counts[HANDSHAKE_ADDRESSES];
};

struct http_server {
    /* Set at the start. */
    struct MHD_Daemon *mhd;
    const struct http_route *routes;
    void *arg;
    struct static_files *files;
    struct sockaddr_storage address;
    char *hosts; /* names allowed in Host without tokens (origin.h) */
    unsigned max_streams, max_connections;
    size_t max_unread;
    bool is_tls, has_tokens;

    /* Used on the loop only. */
    uv_loop_t *loop;
    uv_async_t wake;
    uv_timer_t sweep, handshake;
    uv_poll_t listener, watches;
    unsigned handles; /* open handles */
    int listen_fd, watch_fd;
    struct handshakes handshakes;
    unsigned retries; /* attempts to find room for the next connection */
    http_token_check *is_agent_token;
    void *token_check_arg;
    struct http_request_list handled, turns;
    /* number of answers in `turns` that may still be sent in this loop iteration */
    unsigned texts_left;
    TAILQ_HEAD(, http_stream) streams;
    uint64_t close_deadline_ms;
    void (*closed)(void *arg);
    void *closed_arg;

    /* All threads read `auth` with auth_lock held; only the loop changes it. */
    uv_rwlock_t auth_lock;
    const struct http_auth *auth;

    atomic_size_t body_bytes; /* bytes of the bodies of all current requests */
    atomic_bool is_starting, has_token_check;
    char library_text[256]; /* the library's last message during its start */

    uv_mutex_t lock; /* guards the members below */
    bool is_closing, has_turns;
    /* used in place of the certificate given at start; NULL: none */
    struct certificate *certificate;
    /* Queues of requests for the loop: requests with large bodies, requests of agents,
     * and other requests. */
    struct http_request_list large, agents, small;
    TAILQ_HEAD(, http_stream) notices;   /* streams with a callback due */
    struct http_connection_list waiting; /* ordered by waiting time, longest first */
    TAILQ_HEAD(, http_linger) lingers;
    unsigned n_lingers, n_exchanges, n_evicted;
    /* streams to resume in the next iteration of the loop */
    TAILQ_HEAD(, http_stream) due;
    TAILQ_HEAD(, http_stream)
    unread;        /* streams with unread data, least recently read first */
    unsigned tick; /* number of calls of send_tick() */
    struct http_counters counters;
};

/* accept.c */
/* Takes ownership of the listener. */
void accept_start(struct http_server *server, int listener);
/* Stop accepting. `closed` is called for each handle of accept.c. */
void accept_close(struct http_server *server, uv_close_cb closed);

/* connection.c. Call all but the first two functions with the lock held. */
void connection_notify(void *cls, struct MHD_Connection *mhd, void **context,
                       enum MHD_ConnectionNotificationCode code);
struct http_connection *connection_of(struct MHD_Connection *mhd);
/* Set a deadline for the client's next input. The connection keeps its place in the
 * waiting list. */
void connection_wait(struct http_connection *connection, uint64_t ms);
/* Like connection_wait(), but the connection moves to the end of the waiting list. */
void connection_wait_anew(struct http_connection *connection, uint64_t ms);
/* Call when the client has an answer to read, or has just read a part of it. The library
 * limits the time for reading. The connection may still be evicted. */
void connection_wait_for_reading(struct http_connection *connection);
void connection_rest(struct http_connection *connection);
/* Close the connection that has waited longest. Returns false if none waits. */
bool connection_evict(struct http_server *server);
/* Close connections whose deadline has passed. */
void connection_sweep(struct http_server *server);

/* watch.c */
int watches_start(struct http_server *server, struct error *err);
void watch_start(struct http_server *server, struct watch *watch);
void watch_stop(struct http_server *server, struct watch *watch);
/* Read and drop further bytes from the client for some seconds, on a copy of the socket.
 * If the socket were closed with unread input, the kernel would reset the connection and
 * the client could lose the answer. */
void linger_start(struct http_server *server, int fd);
/* Close the sockets whose linger time has expired, or all lingering sockets. Call with
 * the lock held. */
void linger_sweep(struct http_server *server, bool all);

/* exchange.c: the request on the library's thread */
void *exchange_open(void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result exchange_handle(void *cls, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version,
                                const char *upload, size_t *upload_size, void **context);
void exchange_completed(void *cls, struct MHD_Connection *mhd, void **context,
                        enum MHD_RequestTerminationCode code);

/* serve.c: the request on the loop */
/* Handle requests from the library's threads, as many as one iteration of the loop has
 * time for. */
void serve(struct http_server *server);
/* Call when the server closes. Answer all requests and end all streams. */
void serve_no_more(struct http_server *server);

/* request.c */
void request_free(struct http_request *request);
/* Detach the request from the server, which has answered instead of the handler and may
 * be freed before the handler answers. */
void request_detach(struct http_request *request);

/* reply.c */
/* Answer the request and free it; `response` is stolen. */
void reply_finish(struct http_request *request, int status,
                  struct MHD_Response *response);
void reply_refuse(struct http_request *request, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void reply_unauthorized(struct http_request *request);
/* A response without a body. */
struct MHD_Response *reply_empty(void);
/* The text of a problem document, to be freed. */
char *reply_problem_text(int status, const char *detail, const struct problems *problems);
/* Send waiting answers (http_reply_json_in_turn) while there is room. */
void reply_turns(struct http_server *server);
void reply_static(struct http_request *request, const struct static_file *file);

/* send.c. Call all but the last three functions with the lock held. */
size_t send_queued(const struct http_stream *stream);
/* Queue data. Returns -1 if the client would then have too much unread. */
int send_push(struct http_stream *stream, const void *data, size_t len);
/* Send nothing more and close the connection. */
void send_cut(struct http_stream *stream);
/* Resume the suspended connection: the stream has more to send, or has ended. */
void send_resume(struct http_stream *stream);
void send_unnotice(struct http_stream *stream);
/* True if the unread data of all clients exceeds half of the limit. A stream that already
 * has queued data should then get no more. */
bool send_is_high(const struct http_server *server);
/* If the total of unread data is high, drop clients that have read nothing during
 * `patience` calls of this function. */
void send_tick(struct http_server *server, unsigned patience);
/* Resume streams that were written in the previous iteration of the loop. */
void send_due(struct http_server *server);
/* Return a response that ends when its stream ends. The size may be MHD_SIZE_UNKNOWN. */
struct MHD_Response *send_response(struct exchange *exchange, uint64_t size,
                                   struct http_stream **out);
/* Return a response that consists of these bytes. Takes ownership of `data`. */
struct MHD_Response *send_text(struct exchange *exchange, char *data, size_t len);

/* stream.c */
/* Run the callbacks that the library's threads have requested, until the time `until_ns`
 * (uv_hrtime). */
void stream_run_notices(struct http_server *server, uint64_t until_ns);
/* Call when the server closes. Run all streams' `gone`, then end the streams. */
void stream_close_all(struct http_server *server);

#endif
