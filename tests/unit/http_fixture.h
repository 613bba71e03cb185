/* SPDX-License-Identifier: Apache-2.0 */
/* http_fixture.h - an HTTP server on its own thread and a raw client for its tests */
#ifndef RINGBENCH_TESTS_UNIT_HTTP_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_HTTP_FIXTURE_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "server/http/auth.h"
#include "server/http/http.h"

#define FIXTURE_GUEST "guest-token-0123456789" /* an agent's, in no token file */
#define FIXTURE_PACED_LIMIT ((size_t)256 << 10)

/* Limit for replies that an idle machine sends at once. With the thread sanitizer and
 * 1,000 clients on a busy machine, 20 s were too few. Must stay below the minute after
 * which the server closes an idle connection. */
#define WAIT_S 55

struct parked {
    struct fixture *fixture;
    struct http_request *request;
    bool is_watched;
    struct parked *next;
};

struct fixture {
    uv_loop_t loop;
    uv_thread_t thread;
    uv_async_t stop;
    bool is_stopping;
    struct http_server *server;
    struct http_auth *auth;
    int port;
    struct parked *parked;
    struct http_stream *open_stream; /* of the last GET /open */
    struct http_request *late;       /* of GET /unparked */
    atomic_size_t max_queued;        /* of GET /paced */
    uv_prepare_t turn;
    int bodies;               /* of POST /length */
    int held_body;            /* the number of one that waits for `release` */
    int small_body;           /* that of the last small one */
    int body_ms;              /* that POST /length takes */
    int gone_ms;              /* that it takes to be told of a stream's end */
    int bodies_in_turn;       /* of POST /length, that were handled in this one */
    int most_bodies_per_turn; /* read it when nothing comes any more */
    sem_t on_parked, on_gone, on_stalled, on_stream, on_closed;
    sem_t on_held, release; /* of GET /hold, which keeps the server's thread */
};

struct fixture_options {
    const char *web_dir, *token_file, *tls_cert, *tls_key;
    unsigned max_streams, max_connections;
    size_t max_unread;
};

/* Start it; fails the test when that fails. */
struct fixture *fixture_start(const struct fixture_options *options);

/* Tell the server to close, without waiting. on_closed is posted once it has. */
void fixture_begin_stop(struct fixture *fixture);

/* Close (unless begun), wait for the thread and free everything. */
void fixture_stop(struct fixture *fixture);

/* Wait up to `seconds` for n posts; false when they do not come. */
bool fixture_wait(sem_t *sem, int n, double seconds);

/* A blocking connection with a receive timeout of WAIT_S. */
int client_connect(const struct fixture *fixture);
void client_connect_on(int fd, const struct fixture *fixture);
void client_send(int fd, const char *text);
void client_send_bytes(int fd, const void *data, size_t len);
/* As recv(), which the kernel interrupts in all threads where libuv uses io_uring. */
ssize_t client_receive(int fd, void *data, size_t len);

struct reply {
    int status;
    char *head; /* status line and headers */
    char *body; /* without chunk framing, NUL-terminated */
    size_t len;
    bool is_truncated; /* the connection ended before the body did */
};

/* Read one answer, exactly. status 0: the connection ended first. */
void client_read(int fd, bool is_head, struct reply *reply);
void reply_release(struct reply *reply);

/* The value of a header into `value`; false when there is none. */
bool reply_header(const struct reply *reply, const char *name, char value[256]);

/* One request on a connection of its own: "GET /ok", extra header lines each ending with
 * CRLF, and a body (NULL: none). */
void client_ask(const struct fixture *fixture, const char *method_and_target,
                const char *headers, const char *body, struct reply *reply);

/* The same, asserting the status; the body is dropped. */
void client_expect(const struct fixture *fixture, const char *method_and_target,
                   const char *headers, const char *body, int status);

/* A field of GET /counters. */
long fixture_counter(const struct fixture *fixture, const char *name);

#endif
