/* SPDX-License-Identifier: Apache-2.0 */
/* connection.c - sets deadlines for connections that wait for their clients, and chooses
 * the one to close when room is needed */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "server/http/internal.h"

/* Maximum time from accept() to the first line of a request: with TLS, including the
 * handshake, and without TLS. */
#define FIRST_REQUEST_TLS_MS 10000
#define FIRST_REQUEST_MS 30000
#define NEVER_MS (UINT64_MAX / 2)
#define PEEKS_PER_SWEEP 1000

static uint64_t now_ms(void)
{
    return (uint64_t)(clock_monotonic_ns() / 1000000);
}

void connection_wait(struct http_connection *connection, uint64_t ms)
{
    connection->deadline_ms = now_ms() + ms;
    connection->is_peeked = false;
    if (connection->is_waiting || connection->is_evicted)
        return;
    TAILQ_INSERT_TAIL(&connection->server->waiting, connection, waiting);
    connection->is_waiting = true;
}

void connection_rest(struct http_connection *connection)
{
    if (!connection->is_waiting)
        return;
    TAILQ_REMOVE(&connection->server->waiting, connection, waiting);
    connection->is_waiting = false;
}

void connection_wait_anew(struct http_connection *connection, uint64_t ms)
{
    connection_rest(connection);
    connection_wait(connection, ms);
}

/* Set no deadline, because the library closes the connection if its client reads nothing
 * for a while. Do not close the connection at the end of the client's input, because a
 * client may close only its sending half. */
void connection_wait_for_reading(struct http_connection *connection)
{
    connection_wait_anew(connection, NEVER_MS);
    connection->is_peeked = true;
}

/* Shut the socket down. The library then sees the end of the input and closes the
 * connection. A TLS handshake in progress fails. */
static void cut(struct http_connection *connection)
{
    shutdown(connection->fd, SHUT_RDWR);
    connection_rest(connection);
}

bool connection_evict(struct http_server *server)
{
    struct http_connection *longest = TAILQ_FIRST(&server->waiting);

    if (!longest)
        return false;
    cut(longest);
    longest->is_evicted = true;
    server->n_evicted++;
    server->counters.reclaimed++;
    return true;
}

/* True if the client has closed the connection. The library's edge-triggered poll misses
 * an end of input that arrives together with the last bytes, so check once per wait. */
static bool has_ended(struct http_connection *connection, unsigned *peeks)
{
    char byte;
    ssize_t n;

    if (connection->is_peeked || *peeks == 0)
        return false;
    --*peeks;
    connection->is_peeked = true;
    n = recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

void connection_sweep(struct http_server *server)
{
    struct http_connection *connection, *next;
    unsigned peeks = PEEKS_PER_SWEEP;
    uint64_t now = now_ms();

    for (connection = TAILQ_FIRST(&server->waiting); connection; connection = next) {
        next = TAILQ_NEXT(connection, waiting);
        if (now >= connection->deadline_ms || has_ended(connection, &peeks))
            cut(connection);
    }
}

static void open_connection(struct http_server *server, struct MHD_Connection *mhd,
                            void **context)
{
    struct http_connection *connection =
        memory_zeroed(1, sizeof(*connection), "a connection");

    *context = connection;
    connection->server = server;
    connection->fd =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    uv_mutex_lock(&server->lock);
    connection_wait(connection, server->is_tls ? FIRST_REQUEST_TLS_MS : FIRST_REQUEST_MS);
    if (server->certificate)
        connection->certificate = certificate_give(
            server->certificate,
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION)
                ->tls_session);
    uv_mutex_unlock(&server->lock);
}

static void close_connection(struct http_server *server,
                             struct http_connection *connection)
{
    uv_mutex_lock(&server->lock);
    server->counters.connections--;
    server->counters.waiting -= !connection->has_sent_line;
    server->n_evicted -= connection->is_evicted;
    connection_rest(connection);
    certificate_release(connection->certificate);
    uv_mutex_unlock(&server->lock);
    free(connection);
}

void connection_notify(void *cls, struct MHD_Connection *mhd, void **context,
                       enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = cls;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        open_connection(server, mhd, context);
    } else {
        close_connection(server, *context);
        *context = NULL;
    }
}

struct http_connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}
