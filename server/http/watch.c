/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - watches sockets that the library does not poll: those of suspended
 * connections, whose clients may leave, and those of refused requests, whose clients may
 * still send */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/http/internal.h"

#define EVENTS_PER_TURN 64
#define LINGER_MS 3000
#define LINGER_BYTES_MAX ((size_t)64 << 20)
#define LINGERS_MAX 64u

/* Fetch one event at a time: its callback may free the watch of the next one. */
static void on_watches(uv_poll_t *poll, int status, int events)
{
    struct http_server *server = poll->data;
    struct epoll_event event;
    int n = 1;

    (void)status;
    (void)events;
    for (int i = 0; i < EVENTS_PER_TURN && n == 1; i++) {
        uv_mutex_lock(&server->lock);
        n = epoll_wait(server->watch_fd, &event, 1, 0);
        if (n == 1) {
            struct watch *watch = event.data.ptr;

            watch->callback(watch);
        }
        uv_mutex_unlock(&server->lock);
    }
}

int watches_start(struct http_server *server, struct error *err)
{
    server->watch_fd = epoll_create1(EPOLL_CLOEXEC);
    if (server->watch_fd < 0)
        return error_set_errno(err, ERROR_IO, errno, "cannot create an epoll descriptor");
    uv_poll_init(server->loop, &server->watches, server->watch_fd);
    server->watches.data = server;
    uv_poll_start(&server->watches, UV_READABLE, on_watches);
    server->handles++;
    return 0;
}

static void start(struct http_server *server, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    if (watch->is_active)
        return;
    if (epoll_ctl(server->watch_fd, EPOLL_CTL_ADD, watch->fd, &event))
        log_warn("cannot detect the end of a connection: %s", strerror(errno));
    else
        watch->is_active = true;
}

void watch_start(struct http_server *server, struct watch *watch)
{
    start(server, watch, EPOLLRDHUP);
}

void watch_stop(struct http_server *server, struct watch *watch)
{
    if (watch->is_active)
        epoll_ctl(server->watch_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->is_active = false;
}

struct http_linger {
    struct watch watch;
    struct http_server *server;
    size_t bytes;
    int64_t deadline_ns;
    TAILQ_ENTRY(http_linger) all;
};

static void linger_end(struct http_linger *linger)
{
    TAILQ_REMOVE(&linger->server->lingers, linger, all);
    linger->server->n_lingers--;
    watch_stop(linger->server, &linger->watch);
    close(linger->watch.fd);
    free(linger);
}

static void on_input(struct watch *watch)
{
    struct http_linger *linger = watch->owner;
    char scrap[16384];
    ssize_t n = recv(watch->fd, scrap, sizeof(scrap), MSG_DONTWAIT);

    if (n > 0)
        linger->bytes += (size_t)n;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
        linger->bytes > LINGER_BYTES_MAX)
        linger_end(linger);
}

void linger_start(struct http_server *server, int fd)
{
    struct http_linger *linger = memory_zeroed(1, sizeof(*linger), "a connection");

    linger->server = server;
    linger->deadline_ns = clock_monotonic_ns() + LINGER_MS * (int64_t)1000000;
    uv_mutex_lock(&server->lock);
    if (server->n_lingers < LINGERS_MAX && !server->is_closing)
        linger->watch = (struct watch){
            .owner = linger, .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), .callback = on_input};
    if (linger->watch.owner && linger->watch.fd >= 0) {
        server->n_lingers++;
        TAILQ_INSERT_TAIL(&server->lingers, linger, all);
        start(server, &linger->watch, EPOLLIN | EPOLLRDHUP);
        linger = NULL;
    }
    uv_mutex_unlock(&server->lock);
    free(linger);
}

void linger_sweep(struct http_server *server, bool all)
{
    struct http_linger *linger, *next;
    int64_t now = clock_monotonic_ns();

    for (linger = TAILQ_FIRST(&server->lingers); linger; linger = next) {
        next = TAILQ_NEXT(linger, all);
        if (all || now >= linger->deadline_ns)
            linger_end(linger);
    }
}
