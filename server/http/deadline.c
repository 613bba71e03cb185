/* deadline.c - an end for connections that owe us bytes, or a reading of them, and for
 * refused ones that still send */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/internal.h"

#define SWEEP_MS 1000
#define UNREAD_SWEEPS 5
#define NEVER_MS (UINT64_MAX / 2)
#define LINGER_MS 3000
#define LINGER_BYTES_MAX ((size_t)64 << 20)
#define LINGERS_MAX 64u

struct http_linger {
    uv_poll_t poll;
    struct http_server *server;
    int fd;
    size_t bytes;
    uint64_t deadline_ms;
    TAILQ_ENTRY(http_linger) all;
};

void deadline_sweep_start(struct http_server *server)
{
    if (!uv_is_active((uv_handle_t *)&server->sweep) && !server->is_stopped)
        uv_timer_start(&server->sweep, deadline_sweep, SWEEP_MS, SWEEP_MS);
}

void deadline_set(struct http_connection *connection, uint64_t ms_from_now)
{
    struct http_server *server = connection->server;

    connection->deadline_ms = uv_now(server->loop) + ms_from_now;
    connection->is_peeked = false;
    if (!connection->is_waiting) {
        TAILQ_INSERT_TAIL(&server->waiting, connection, waiting);
        connection->is_waiting = true;
        connection->since_ms = uv_now(server->loop);
    }
    deadline_sweep_start(server);
}

void deadline_restart(struct http_connection *connection, uint64_t ms_from_now)
{
    deadline_clear(connection);
    deadline_set(connection, ms_from_now);
}

/* The library ends it where its client reads nothing for a while. A client may close its
 * sending half, so that end is not looked for. */
void deadline_restart_reading(struct http_connection *connection)
{
    deadline_restart(connection, NEVER_MS);
    connection->is_peeked = true;
}

void deadline_clear(struct http_connection *connection)
{
    if (!connection->is_waiting)
        return;
    TAILQ_REMOVE(&connection->server->waiting, connection, waiting);
    connection->is_waiting = false;
}

/* The library sees the end of the stream and closes; a handshake fails. */
static void cut(struct http_connection *connection)
{
    shutdown(connection->fd, SHUT_RDWR);
    deadline_clear(connection);
}

bool deadline_reclaim(void *cls, uint64_t since_ms)
{
    struct http_server *server = cls;
    struct http_connection *longest = TAILQ_FIRST(&server->waiting);

    if (!longest || longest->since_ms >= since_ms)
        return false;
    cut(longest);
    return true;
}

static void on_linger_closed(uv_handle_t *handle)
{
    struct http_linger *linger = handle->data;
    struct http_server *server = linger->server;

    close(linger->fd);
    free(linger);
    http_server_handle_closed(server);
}

static void linger_close(struct http_linger *linger)
{
    TAILQ_REMOVE(&linger->server->lingers, linger, all);
    linger->server->n_lingers--;
    uv_close((uv_handle_t *)&linger->poll, on_linger_closed);
}

void linger_close_all(struct http_server *server)
{
    while (!TAILQ_EMPTY(&server->lingers))
        linger_close(TAILQ_FIRST(&server->lingers));
}

static void on_linger(uv_poll_t *poll, int status, int events)
{
    struct http_linger *linger = poll->data;
    char scrap[16384];
    ssize_t n;

    (void)events;
    if (status < 0) {
        linger_close(linger);
        return;
    }
    n = recv(linger->fd, scrap, sizeof(scrap), MSG_DONTWAIT);
    if (n > 0)
        linger->bytes += (size_t)n;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
        linger->bytes > LINGER_BYTES_MAX)
        linger_close(linger);
}

void linger_start(struct http_server *server, int fd)
{
    struct http_linger *linger;

    if (server->n_lingers == LINGERS_MAX || server->is_closing)
        return;
    linger = calloc(1, sizeof(*linger));
    if (!linger)
        return;
    linger->server = server;
    linger->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (linger->fd < 0 || uv_poll_init(server->loop, &linger->poll, linger->fd)) {
        if (linger->fd >= 0)
            close(linger->fd);
        free(linger);
        return;
    }
    server->handles++;
    server->n_lingers++;
    TAILQ_INSERT_TAIL(&server->lingers, linger, all);
    linger->poll.data = linger;
    linger->deadline_ms = uv_now(server->loop) + LINGER_MS;
    uv_poll_start(&linger->poll, UV_READABLE, on_linger);
    deadline_sweep_start(server);
}

static void sweep_lingers(struct http_server *server, uint64_t now)
{
    struct http_linger *linger, *next;

    for (linger = TAILQ_FIRST(&server->lingers); linger; linger = next) {
        next = TAILQ_NEXT(linger, all);
        if (now >= linger->deadline_ms)
            linger_close(linger);
    }
}

/* The library's edge-triggered poll misses the end of a stream that came together with
 * its last bytes, so look once in each wait. */
static bool has_ended(struct http_connection *connection)
{
    char byte;
    ssize_t n;

    if (connection->is_peeked)
        return false;
    connection->is_peeked = true;
    n = recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

void deadline_sweep(uv_timer_t *timer)
{
    struct http_server *server = timer->data;
    uint64_t now = uv_now(server->loop);
    struct http_connection *connection, *next;

    for (connection = TAILQ_FIRST(&server->waiting); connection; connection = next) {
        next = TAILQ_NEXT(connection, waiting);
        if (now < connection->deadline_ms && !has_ended(connection))
            continue;
        cut(connection);
    }
    sweep_lingers(server, now);
    if (!TAILQ_EMPTY(&server->turns)) {
        backlog_tick(&server->backlog, UNREAD_SWEEPS);
        http_server_wake(server);
    }
    if (TAILQ_EMPTY(&server->waiting) && TAILQ_EMPTY(&server->lingers) &&
        TAILQ_EMPTY(&server->turns))
        uv_timer_stop(timer);
}
