/* connection.c - connections: admission, deadlines' first hold, the watch for disconnects
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "server/http/internal.h"

/* Between accept and the first request line. A TLS handshake costs the server time for
 * each round of the loop, so it gets less. */
#define FIRST_REQUEST_MS 30000
#define FIRST_REQUEST_TLS_MS 10000
/* TLS connections of one address that have not sent a request yet. */
#define HANDSHAKES_PER_ADDRESS 256

static bool same_host(const struct sockaddr *a, const struct sockaddr *b)
{
    if (!a || !b || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET6)
        return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                       &((const struct sockaddr_in6 *)b)->sin6_addr, 16);
    return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
           ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

enum MHD_Result connection_accept(void *cls, const struct sockaddr *addr, socklen_t len)
{
    struct http_server *server = cls;
    struct http_connection *other;
    unsigned opening = 0;

    (void)len;
    http_server_progress(server);
    if (!server->is_tls)
        return MHD_YES;
    TAILQ_FOREACH(other, &server->waiting, waiting)
    {
        const union MHD_ConnectionInfo *info;

        if (!other->is_opening)
            continue;
        info = MHD_get_connection_info(other->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        if (info && same_host(info->client_addr, addr) &&
            ++opening == HANDSHAKES_PER_ADDRESS)
            return MHD_NO;
    }
    return MHD_YES;
}

static void connection_open(struct http_server *server, struct MHD_Connection *mhd,
                            void **context)
{
    struct http_connection *connection = calloc(1, sizeof(*connection));

    *context = connection;
    if (!connection)
        return;
    connection->server = server;
    connection->mhd = mhd;
    connection->fd =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    if (server->certificate)
        connection->certificate = certificate_give(
            server->certificate,
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION)
                ->tls_session);
    connection->is_opening = true;
    deadline_set(connection, server->is_tls ? FIRST_REQUEST_TLS_MS : FIRST_REQUEST_MS);
    server->counters.connections++;
}

static void on_watch_closed(uv_handle_t *handle)
{
    struct http_connection *connection = handle->data;
    struct http_server *server = connection->server;

    free(connection);
    http_server_handle_closed(server);
}

static void connection_close(struct http_connection *connection)
{
    deadline_clear(connection);
    connection->server->counters.connections--;
    certificate_release(connection->certificate);
    if (connection->has_watch)
        uv_close((uv_handle_t *)&connection->watch, on_watch_closed);
    else
        free(connection);
}

void connection_notify(void *cls, struct MHD_Connection *mhd, void **context,
                       enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = cls;

    http_server_progress(server);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        connection_open(server, mhd, context);
    } else if (*context) {
        connection_close(*context);
        *context = NULL;
    }
}

struct http_connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

/* The event is level-triggered, so the watch stops at once. An error means that the
 * socket is dead as well. */
static void on_disconnect(uv_poll_t *watch, int status, int events)
{
    struct http_connection *connection = watch->data;

    if (status == 0 && !(events & UV_DISCONNECT))
        return;
    connection_unwatch(connection);
    if (connection->request)
        connection->request->lost(connection->request);
}

void connection_watch(struct http_connection *connection)
{
    struct http_server *server = connection->server;
    int rc = 0;

    if (connection->is_watching || server->is_stopped)
        return;
    if (!connection->has_watch) {
        rc = uv_poll_init(server->loop, &connection->watch, connection->fd);
        if (rc == 0) {
            connection->watch.data = connection;
            connection->has_watch = true;
            server->handles++;
        }
    }
    if (rc == 0)
        rc = uv_poll_start(&connection->watch, UV_DISCONNECT, on_disconnect);
    if (rc == 0)
        connection->is_watching = true;
    else
        log_warn("cannot watch a connection for its end: %s", uv_strerror(rc));
}

void connection_unwatch(struct http_connection *connection)
{
    if (!connection->is_watching)
        return;
    uv_poll_stop(&connection->watch);
    connection->is_watching = false;
}
