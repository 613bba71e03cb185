/* internal.h - what the files of the HTTP server share; nobody else includes it.
 *
 * A connection (struct http_connection) lives as long as the library's; it carries one
 * request at a time. A request is made when its first line was read and freed when its
 * answer was sent or the connection died. A suspended request waits for its handler or
 * for stream data; only the pump resumes it, with others, because each library run that
 * follows a resume walks all suspended connections. */
#ifndef RINGBENCH_SERVER_HTTP_INTERNAL_H
#define RINGBENCH_SERVER_HTTP_INTERNAL_H

#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "common/base/buf.h"
#include "server/http/auth.h"
#include "server/http/backlog.h"
#include "server/http/byte_queue.h"
#include "server/http/certificate.h"
#include "server/http/head.h"
#include "server/http/http.h"
#include "server/http/lobby.h"
#include "server/http/roster.h"
#include "server/http/router.h"
#include "server/http/static_files.h"
#include "server/http/target.h"

#define HTTP_HEADERS_MAX 16

struct http_connection_list;

struct http_connection {
    struct http_server *server;
    struct MHD_Connection *mhd;
    struct http_request *request;    /* the current one, or NULL */
    struct certificate *certificate; /* NULL: that of the start, or no TLS */
    uv_poll_t watch;                 /* while suspended */
    void (*seen)(struct http_connection *connection); /* what `watch` calls, once */
    int fd;
    bool has_watch, is_watching;
    bool is_waiting; /* for its client: stands in server->waiting */
    bool is_peeked;  /* deadline.c looked for the end of the stream */
    uint64_t since_ms, deadline_ms;
    TAILQ_ENTRY(http_connection) waiting;

    /* handshake.c */
    gnutls_session_t tls;
    struct http_connection_list
        *shaking; /* where it stands; NULL: there is no handshake */
    struct roster_entry handshake;
    TAILQ_ENTRY(http_connection) handshakes;
};

TAILQ_HEAD(http_connection_list, http_connection);

struct http_reply_header {
    char *name, *value;
};

struct http_request {
    struct http_server *server;
    struct http_connection *connection; /* NULL once it is over (abandoned requests) */
    char method[32];                    /* a longer one matches no route, cut or not */
    struct router_match match;
    const struct static_file *file;
    struct head_line line;
    struct target target;
    struct error target_error;
    struct buf body;
    uint64_t body_seen; /* bytes read, kept or not */
    uint64_t begun_ms;
    struct MHD_Response *response;
    unsigned status;
    struct http_reply_header headers[HTTP_HEADERS_MAX];
    size_t n_headers;
    json_t *in_turn; /* the answer to come; stands in server->turns */
    void (*gone)(void *data);
    void *data;
    struct http_stream *stream;
    void (*lost)(struct http_request *request); /* the client of a suspended one left */
    bool is_begun;
    bool is_suspended;
    bool is_resuming;  /* stands in server->resumes */
    bool is_lost;      /* the client left before the answer */
    bool is_abandoned; /* the server answered for its handler, which will still answer */
    bool is_last;      /* the connection closes after the answer */
    TAILQ_ENTRY(http_request) all, resumes, turns, bodies;
};

TAILQ_HEAD(http_request_list, http_request);

/* Requests whose bodies are to be handled: see exchange.c. */
struct http_body_line {
    struct http_request_list requests;
    size_t turn_left; /* of what the loop's turn handles of them */
};

struct http_linger;

struct http_server {
    uv_loop_t *loop;
    struct MHD_Daemon *mhd;
    const struct http_route *routes;
    void *arg;
    const struct http_auth *auth;
    struct static_files *files;
    struct certificate *certificate; /* in place of the library's, if not NULL */
    struct lobby *lobby;             /* NULL once the server closes */
    struct sockaddr_storage address;
    http_guest *is_guest; /* or NULL */
    void *guests;
    unsigned max_streams;
    bool is_tls;
    char *hosts; /* names that Host may have without tokens: see origin.h */
    bool is_pumping, is_closing, is_stopped;

    uv_poll_t poll;
    uv_timer_t timer, sweep;
    uv_idle_t now;    /* active: the library runs in this turn */
    uv_idle_cb run;   /* of `now` */
    unsigned handles; /* not yet closed */

    struct http_request_list requests, resumes, turns;
    unsigned texts_left;               /* of `turns` that this turn of the loop makes */
    unsigned n_suspended;              /* requests */
    uint64_t resumed_ms;               /* when the last of `resumes` went */
    struct http_body_line bodies[2];   /* small ones, large ones */
    TAILQ_HEAD(, http_stream) notices; /* streams with a callback due */
    struct http_connection_list waiting;
    struct http_connection_list shaking, held, woken; /* see handshake.c */
    struct roster handshakes;
    TAILQ_HEAD(, http_linger) lingers;
    unsigned n_lingers;
    size_t body_bytes; /* of all requests being read */
    struct backlog backlog;
    struct http_counters counters;

    uint64_t close_deadline_ms;
    void (*closed)(void *arg);
    void *closed_arg;
    char library_text[256]; /* the last message of the library */
};

/* wake.c */
/* Let the library run, in the loop's next turn at the latest. */
void http_server_wake(struct http_server *server);
/* One of server->handles is closed; the last one frees the server. */
void http_server_handle_closed(struct http_server *server);

/* connection.c */
/* What the lobby lets in. */
enum lobby_answer connection_admit(void *cls, int fd, const struct sockaddr *address,
                                   socklen_t len);
void connection_notify(void *cls, struct MHD_Connection *mhd, void **context,
                       enum MHD_ConnectionNotificationCode code);
struct http_connection *connection_of(struct MHD_Connection *mhd);
/* Call `seen` at the first of these uv_poll events, or an error; stop before every
 * resume. */
void connection_watch(struct http_connection *connection, int events,
                      void (*seen)(struct http_connection *connection));
void connection_unwatch(struct http_connection *connection);
/* Call the request's `lost` when the client disconnects. */
void connection_watch_end(struct http_connection *connection);

/* handshake.c: TLS handshakes under way. libmicrohttpd tries every one of them anew each
 * time that it runs, and asks to be run at once, for as long as one waits for its client.
 * So one that waits is suspended until its client speaks, and costs nothing. */
bool handshake_has_room(struct http_server *server, const struct sockaddr *address);
void handshake_begin(struct http_connection *connection);
/* It is over, or so is the connection. */
void handshake_end(struct http_connection *connection);
/* After each run of the library. */
void handshake_hold(struct http_server *server);
/* Before it: at most so many of those whose clients spoke. */
void handshake_resume(struct http_server *server, unsigned limit);
/* Before the library stops. */
void handshake_resume_all(struct http_server *server);

/* deadline.c: connections that owe us bytes or have to read some, and sockets kept open
 * after a refusal */
void deadline_set(struct http_connection *connection, uint64_t ms_from_now);
/* The same, and it counts as one that has just begun to wait. */
void deadline_restart(struct http_connection *connection, uint64_t ms_from_now);
/* It has an answer to read, or has just read some of it: no deadline, but it may go to
 * make room. */
void deadline_restart_reading(struct http_connection *connection);
void deadline_clear(struct http_connection *connection);
/* Close the one that has waited for longest, if since before then. */
bool deadline_reclaim(void *server, uint64_t since_ms);
void deadline_sweep(uv_timer_t *timer);
void deadline_sweep_start(struct http_server *server);
/* Swallow what the client still sends on a copy of the socket, for some seconds: closing
 * with unread input makes the kernel reset the connection, and the client loses the
 * answer that we just sent. */
void linger_start(struct http_server *server, int fd);
void linger_close_all(struct http_server *server);

/* exchange.c: the library's view of a request */
void *exchange_open(void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result exchange_handle(void *cls, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version,
                                const char *upload, size_t *upload_size, void **context);
void exchange_completed(void *cls, struct MHD_Connection *mhd, void **context,
                        enum MHD_RequestTerminationCode code);
/* Before the library runs; and after, to handle bodies that have come as far as the turn
 * has room for them. */
void exchange_begin_turn(struct http_server *server);
void exchange_handle_bodies(struct http_server *server);
bool exchange_has_bodies(const struct http_server *server);
/* The server closes: answer a suspended request on its handler's behalf. */
void exchange_abandon(struct http_request *request);

/* request.c */
void request_free(struct http_request *request);
/* Let the pump resume it. Does nothing unless it is suspended. */
void request_resume(struct http_request *request);
/* The handler of an abandoned request answered after all. */
void request_answered_late(struct http_request *request);
void request_release_headers(struct http_request *request);

/* reply.c */
/* Give the request its answer; `response` is stolen, NULL means that memory was out. */
void reply_finish(struct http_request *request, int status,
                  struct MHD_Response *response);
void reply_refuse(struct http_request *request, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A response without a body; NULL when memory is out. */
struct MHD_Response *reply_empty(void);
/* The text of a problem document, to be freed; NULL when memory is out. */
char *reply_problem_text(int status, const char *detail, const struct problems *problems);
/* Whether some wait only for the next turn of the loop. */
bool reply_has_turns(const struct http_server *server);
/* Give their answers to those whose turn it is. */
void reply_turns(struct http_server *server);
void reply_static(struct http_request *request, const struct static_file *file);

/* stream.c */
void stream_completed(struct http_stream *stream);
void stream_cut(struct http_stream *stream);
void stream_server_closing(struct http_stream *stream);
/* Run the callbacks that came due inside the library. */
void stream_run_notices(struct http_server *server);

#endif
