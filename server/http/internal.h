/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of the HTTP server share; nobody else includes it.
 *
 * The library reads requests and writes answers on threads of its own. A request has two
 * halves. The exchange belongs to the library's thread: it is made with the first line of
 * a request and freed when the answer was sent or the connection died. The loop uses it
 * only while the connection is suspended, to put the answer in. The request is what a
 * handler sees: the library's thread fills it, hands it to the loop, and the loop frees
 * it with the answer.
 *
 * `lock` protects what both threads use. A function that must be called with it held says
 * so. Lock order: `lock`, then the library's own locks. No handler runs with it held. */
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

/* A socket from which nobody reads, and what to do when its client ends it. */
struct watch {
    void *owner;
    int fd;
    void (*seen)(struct watch *watch); /* on the loop, with the lock held */
    bool is_active;
};

/* It lives as long as the library's. */
struct http_connection {
    struct http_server *server;
    struct certificate *certificate; /* NULL: that of the start, or no TLS */
    int fd;
    bool has_asked;  /* it has sent the first line of a request */
    bool is_waiting; /* for its client: stands in server->waiting */
    bool is_peeked;  /* nobody has to look for the end of its input */
    bool is_evicted; /* it is about to close, to make room */
    uint64_t deadline_ms;
    TAILQ_ENTRY(http_connection) waiting;
};

TAILQ_HEAD(http_connection_list, http_connection);

enum exchange_phase {
    EXCHANGE_NEW,
    EXCHANGE_ASKING,  /* the loop checks the token */
    EXCHANGE_READING, /* the body */
    EXCHANGE_HANDLED  /* the loop has the request, or has answered it */
};

struct exchange {
    struct http_server *server;
    struct http_connection *connection;
    struct MHD_Connection *mhd;
    struct http_request *request; /* NULL once it is answered */
    struct head_line line;
    enum exchange_phase phase;
    uint64_t begun_ms, body_seen; /* bytes read, kept or not */
    struct MHD_Response *response;
    unsigned status;
    bool is_suspended;
    bool is_stream;
    bool is_of_agent; /* by its route */
    bool is_lost;     /* the client left before the answer */
    bool is_last;     /* the connection closes after the answer */
};

struct http_reply_header {
    char *name, *value;
};

struct http_request {
    struct http_server *server;
    struct exchange *exchange; /* NULL: the server has answered for the handler */
    char method[32];           /* a longer one matches no route, cut or not */
    struct router_match match;
    const struct static_file *file;
    struct target target;
    struct error target_error;
    struct buf body;
    struct http_reply_header headers[HTTP_HEADERS_MAX];
    size_t n_headers;
    json_t *in_turn; /* the answer to come; stands in server->turns */
    void (*gone)(void *data);
    void *data;
    struct watch watch; /* while `gone` is set */
    bool is_handled;    /* stands in server->handled */
    TAILQ_ENTRY(http_request) next, turns;
};

TAILQ_HEAD(http_request_list, http_request);

/* An answer that is sent in pieces: see send.c. A stream has a writer, a text has not. */
struct http_stream {
    struct http_server *server;
    struct http_connection *connection;
    struct MHD_Connection *mhd;
    bool is_text;

    /* The loop's. */
    void (*gone)(void *data);
    void (*drained)(void *data);
    void *data;
    bool is_told; /* `gone` runs or has run */
    TAILQ_ENTRY(http_stream) all;

    /* Guarded by the lock. */
    struct buf queue;
    size_t sent;   /* bytes of `queue`, up to half of it */
    unsigned tick; /* when its client last read */
    struct watch watch;
    bool is_suspended; /* the library waits for more */
    bool is_due;       /* and is to be told soon that there is some */
    bool is_over;      /* the library is done with it */
    bool is_ended;     /* the writer is done with it */
    bool is_cut;       /* send nothing more */
    bool is_partial;   /* once ended: the client must not take it for whole */
    bool is_noticed;
    TAILQ_ENTRY(http_stream) notices, unread, due;
};

/* Connections that wait for their handshake: see accept.c. */
struct hello;
#define HELLO_RANKS 5
#define HELLO_ADDRESSES 1024

struct hellos {
    TAILQ_HEAD(, hello) ranks[HELLO_RANKS];
    unsigned counts[HELLO_ADDRESSES];
};

struct http_server {
    /* Set at the start. */
    struct MHD_Daemon *mhd;
    const struct http_route *routes;
    void *arg;
    struct static_files *files;
    struct sockaddr_storage address;
    char *hosts; /* names that Host may have without tokens: see origin.h */
    unsigned max_streams, max_connections;
    size_t max_unread;
    bool is_tls, has_tokens;

    /* The loop's. */
    uv_loop_t *loop;
    uv_async_t wake;
    uv_timer_t sweep, hello;
    uv_poll_t listener, watches;
    unsigned handles; /* not yet closed */
    int listen_fd, watch_fd;
    struct hellos hellos;
    unsigned retries; /* to find room for a connection */
    http_guest *is_guest;
    void *guests;
    struct http_request_list handled, turns;
    unsigned texts_left; /* of `turns` that this turn of the loop makes */
    TAILQ_HEAD(, http_stream) streams;
    uint64_t close_deadline_ms;
    void (*closed)(void *arg);
    void *closed_arg;

    /* Threads read it under the lock of its own; only the loop changes it. */
    uv_rwlock_t auth_lock;
    const struct http_auth *auth;

    atomic_size_t body_bytes; /* of all requests */
    atomic_bool is_starting, has_guests;
    char library_text[256]; /* the last message of the library while it starts */

    uv_mutex_t lock; /* guards what follows */
    bool is_closing, has_turns;
    struct certificate *certificate; /* in place of the library's, if not NULL */
    /* Requests for the loop: those with large bodies, of agents, and others. */
    struct http_request_list large, agents, small;
    TAILQ_HEAD(, http_stream) notices;   /* streams with a callback due */
    struct http_connection_list waiting; /* the longest first */
    TAILQ_HEAD(, http_linger) lingers;
    unsigned n_lingers, n_exchanges, n_evicted;
    TAILQ_HEAD(, http_stream) due;    /* to be resumed */
    TAILQ_HEAD(, http_stream) unread; /* the one that was read longest ago comes first */
    unsigned tick;                    /* calls of send_tick */
    struct http_counters counters;
};

/* accept.c */
/* Takes the listener. */
void accept_start(struct http_server *server, int listener);
/* `closed` is called for each of its handles. */
void accept_close(struct http_server *server, uv_close_cb closed);

/* connection.c. All but the first two need the lock. */
void connection_notify(void *cls, struct MHD_Connection *mhd, void **context,
                       enum MHD_ConnectionNotificationCode code);
struct http_connection *connection_of(struct MHD_Connection *mhd);
/* Its client owes us something in so many ms. It keeps its place among those that wait.
 */
void connection_wait(struct http_connection *connection, uint64_t ms);
/* The same, and it counts as one that has just begun to wait. */
void connection_wait_anew(struct http_connection *connection, uint64_t ms);
/* Its client has an answer to read, or has just read some of it: no deadline but the
 * library's, but it may go to make room. */
void connection_wait_for_reading(struct http_connection *connection);
void connection_rest(struct http_connection *connection);
/* Close the one that has waited longest; whether there was one. */
bool connection_evict(struct http_server *server);
/* Close those whose deadline is over. */
void connection_sweep(struct http_server *server);

/* watch.c */
int watches_start(struct http_server *server, struct error *err);
void watch_start(struct http_server *server, struct watch *watch);
void watch_stop(struct http_server *server, struct watch *watch);
/* Swallow what the client still sends on a copy of the socket, for some seconds: closing
 * with unread input makes the kernel reset the connection, and the client loses the
 * answer that we just sent. */
void linger_start(struct http_server *server, int fd);
/* End those that are over, or all. With the lock held. */
void linger_sweep(struct http_server *server, bool all);

/* exchange.c: the library's view of a request */
void *exchange_open(void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result exchange_handle(void *cls, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version,
                                const char *upload, size_t *upload_size, void **context);
void exchange_completed(void *cls, struct MHD_Connection *mhd, void **context,
                        enum MHD_RequestTerminationCode code);

/* serve.c: the loop's view */
/* Handle what the library's threads handed over, as much as a turn of the loop has time
 * for. */
void serve(struct http_server *server);
/* The server closes: answer all requests and end all streams. */
void serve_no_more(struct http_server *server);

/* request.c */
void request_free(struct http_request *request);
/* The server answers in the handler's place and may be gone when the handler answers. */
void request_detach(struct http_request *request);

/* reply.c */
/* Give the request its answer and free it; `response` is stolen. */
void reply_finish(struct http_request *request, int status,
                  struct MHD_Response *response);
void reply_refuse(struct http_request *request, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void reply_unauthorized(struct http_request *request);
/* A response without a body. */
struct MHD_Response *reply_empty(void);
/* The text of a problem document, to be freed. */
char *reply_problem_text(int status, const char *detail, const struct problems *problems);
/* Give their answers to those whose turn it is. */
void reply_turns(struct http_server *server);
void reply_static(struct http_request *request, const struct static_file *file);

/* send.c. All but the last three need the lock. */
size_t send_queued(const struct http_stream *stream);
/* -1: there is more than a client may have to read. */
int send_push(struct http_stream *stream, const void *data, size_t len);
/* Send nothing more, break it off. */
void send_cut(struct http_stream *stream);
/* The library waits for it; it has more to send, or has ended. */
void send_resume(struct http_stream *stream);
void send_unnotice(struct http_stream *stream);
/* Clients have more than half of the limit to read: a stream with something queued should
 * get no more now. */
bool send_is_high(const struct http_server *server);
/* Other clients wait for memory: drop clients that have read nothing for `patience`
 * calls of this function. */
void send_tick(struct http_server *server, unsigned patience);
/* Have the library send what was written in the turn of the loop before. */
void send_due(struct http_server *server);
/* A response that ends with its stream, whose size may be MHD_SIZE_UNKNOWN. */
struct MHD_Response *send_response(struct exchange *exchange, uint64_t size,
                                   struct http_stream **out);
/* Of these bytes, which it takes. */
struct MHD_Response *send_text(struct exchange *exchange, char *data, size_t len);

/* stream.c */
/* Run the callbacks that came due on the library's threads, as many as there is time for
 * (uv_hrtime). */
void stream_run_notices(struct http_server *server, uint64_t until_ns);
/* The server closes: tell their writers, then end all. */
void stream_close_all(struct http_server *server);

#endif
