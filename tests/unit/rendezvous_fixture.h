/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous_fixture.h - a rendezvous on a loop in a thread of its own, and blocking
 * clients that know nothing of the server's code */
#ifndef RINGBENCH_TESTS_UNIT_RENDEZVOUS_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_RENDEZVOUS_FIXTURE_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "server/rendezvous/rendezvous.h"
#include "tests/unit/tcpstore_requests.h"
#include "tests/unit/test.h"

struct fixture {
    uv_loop_t loop;
    uv_thread_t thread;
    uv_async_t wake;
    uv_sem_t done;
    void (*call)(struct fixture *fixture, void *arg);
    void *arg;
    struct rendezvous_config config;
    struct rendezvous *rendezvous;
    struct rendezvous_store *store;
    int port;
};

/* ---- The loop's thread ---- */

/* cmocka's assertions work on the test's own thread only. */
static inline void need(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "on the loop's thread: %s\n", what);
    abort();
}

static inline void on_call(uv_async_t *wake)
{
    struct fixture *fixture = wake->data;

    fixture->call(fixture, fixture->arg);
    uv_sem_post(&fixture->done);
}

/* Run a function on the loop's thread and wait for it. */
static inline void on_loop(struct fixture *fixture,
                           void (*call)(struct fixture *, void *), void *arg)
{
    fixture->call = call;
    fixture->arg = arg;
    uv_async_send(&fixture->wake);
    uv_sem_wait(&fixture->done);
}

static inline void run_loop(void *arg)
{
    struct fixture *fixture = arg;

    uv_run(&fixture->loop, UV_RUN_DEFAULT);
}

static inline void create_rendezvous(struct fixture *fixture, void *arg)
{
    (void)arg;
    fixture->rendezvous = rendezvous_create(&fixture->loop, &fixture->config);
}

static inline void open_store(struct fixture *fixture, void *arg)
{
    const char *const allowed[] = {arg};
    struct error err = {ERROR_NONE, ""};

    fixture->store = rendezvous_open(fixture->rendezvous, "run1/0", arg ? allowed : NULL,
                                     arg ? 1 : 0, &err);
    need(fixture->store, err.text);
    fixture->port = rendezvous_store_port(fixture->store);
}

static inline void close_store(struct fixture *fixture, void *arg)
{
    (void)arg;
    rendezvous_store_close(fixture->store);
    fixture->store = NULL;
}

static inline void on_rendezvous_closed(void *arg)
{
    struct fixture *fixture = arg;

    fixture->rendezvous = NULL;
    uv_close((uv_handle_t *)&fixture->wake, NULL);
}

static inline void close_rendezvous(struct fixture *fixture, void *arg)
{
    (void)arg;
    rendezvous_close(fixture->rendezvous, on_rendezvous_closed, fixture);
}

static inline void get_counters(struct fixture *fixture, void *arg)
{
    rendezvous_counters(fixture->rendezvous, arg);
}

static inline void start(struct fixture *fixture)
{
    uv_loop_init(&fixture->loop);
    uv_sem_init(&fixture->done, 0);
    uv_async_init(&fixture->loop, &fixture->wake, on_call);
    fixture->wake.data = fixture;
    uv_thread_create(&fixture->thread, run_loop, fixture);
    on_loop(fixture, create_rendezvous, NULL);
}

static inline void stop(struct fixture *fixture)
{
    on_loop(fixture, close_rendezvous, NULL);
    uv_thread_join(&fixture->thread);
    assert_null(fixture->rendezvous);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    uv_sem_destroy(&fixture->done);
}

static inline bool has_ipv6(void)
{
    const struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    int rc = bind(fd, (const struct sockaddr *)&any, sizeof(any));

    close(fd);
    return rc == 0;
}

/* A fixture with one open store and the given limits. */
static inline struct fixture *start_with(struct rendezvous_config config)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    fixture->config = config;
    fixture->config.listen.ss_family = has_ipv6() ? AF_INET6 : AF_INET;
    start(fixture);
    on_loop(fixture, open_store, NULL);
    return fixture;
}

static inline int setup(void **state)
{
    *state = start_with((struct rendezvous_config){0});
    return 0;
}

static inline int teardown(void **state)
{
    stop(*state);
    free(*state);
    return 0;
}

/* ---- Clients ---- */

static inline int connect_to(const char *address, int port)
{
    const struct timeval limit = {.tv_sec = 60};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    bool is_v6 = inet_pton(AF_INET6, address, &in6.sin6_addr) == 1;
    int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    int rc;

    inet_pton(AF_INET, address, &in.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (is_v6)
        rc = connect(fd, (struct sockaddr *)&in6, sizeof(in6));
    else
        rc = connect(fd, (struct sockaddr *)&in, sizeof(in));
    if (rc < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline void send_all(int fd, const void *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = send(fd, (const char *)data + at, len - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail_msg("send: %s", strerror(errno));
        at += (size_t)n;
    }
}

/* Send requests that were put together; the buffer is empty afterwards. */
static inline void send_buf(int fd, struct buf *bytes)
{
    send_all(fd, bytes->data, bytes->len);
    buf_release(bytes);
}

/* Send one request. */
#define SEND(fd, type, ...)                                                              \
    do {                                                                                 \
        struct buf request_;                                                             \
        buf_init(&request_, REQUEST_MAX);                                                \
        put_request(&request_, type, __VA_ARGS__);                                       \
        send_buf(fd, &request_);                                                         \
    } while (0)

/* The next bytes from the server are these reply fields. */
#define EXPECT(fd, ...)                                                                  \
    do {                                                                                 \
        struct buf expected_;                                                            \
        buf_init(&expected_, REQUEST_MAX);                                               \
        put_request(&expected_, 0, __VA_ARGS__);                                         \
        expect_bytes(fd, &expected_, __LINE__);                                          \
    } while (0)

/* With io_uring, which libuv uses where it can, the kernel interrupts calls of any thread
 * that have a time limit. */
static inline ssize_t receive(int fd, void *data, size_t len)
{
    ssize_t n;

    do {
        n = recv(fd, data, len, 0);
    } while (n < 0 && errno == EINTR);
    return n;
}

static inline void receive_all(int fd, void *data, size_t len, int line)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = receive(fd, (char *)data + at, len - at);
        if (n <= 0)
            fail_msg("line %d: %zu of %zu bytes, then %s", line, at, len,
                     n < 0 ? strerror(errno) : "the end");
        at += (size_t)n;
    }
}

static inline void expect_bytes(int fd, struct buf *expected, int line)
{
    char *got = malloc(expected->len);

    receive_all(fd, got, expected->len - 1, line);
    if (memcmp(got, expected->data + 1, expected->len - 1))
        fail_msg("line %d: the reply differs", line);
    free(got);
    buf_release(expected);
}

/* The server closes, having sent nothing more. */
static inline void expect_end(int fd)
{
    char byte;
    ssize_t n = receive(fd, &byte, 1);

    if (n > 0 || (n < 0 && errno != ECONNRESET))
        fail_msg("not closed: %s", n > 0 ? "a byte came" : strerror(errno));
    close(fd);
}

/* Everything that this client sent has been executed and nothing else was replied. */
static inline void expect_quiet(int fd)
{
    static unsigned nonce = 1000;

    SEND(fd, 13, "u", ++nonce);
    EXPECT(fd, "u", nonce);
}

static inline int connect_v2(struct fixture *fixture)
{
    int fd = connect_to("127.0.0.1", fixture->port);
    struct buf bytes;

    assert_true(fd >= 0);
    buf_init(&bytes, 100);
    put_hello(&bytes);
    put_request(&bytes, 13, "u", 77u);
    send_buf(fd, &bytes);
    EXPECT(fd, "u", 77u);
    return fd;
}

static inline struct rendezvous_counters counters_of(struct fixture *fixture)
{
    struct rendezvous_counters counters;

    on_loop(fixture, get_counters, &counters);
    return counters;
}

/* Wait until this many clients are parked. */
static inline void wait_for_parked(struct fixture *fixture, size_t n)
{
    while (counters_of(fixture).cases.parked_waits != n)
        usleep(1000);
}

static inline void wait_for_connections(struct fixture *fixture, size_t n)
{
    while (counters_of(fixture).cases.connections != n)
        usleep(1000);
}

#endif
