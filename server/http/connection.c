/* connection.c - connections: admission, deadlines' first hold, the watch for disconnects
 */
#include <stdlib.h>

#include "common/base/log.h"
#include "server/http/internal.h"

/* From a TLS hello to the first line of a request; and without TLS. */
#define FIRST_REQUEST_TLS_MS 10000
#define FIRST_REQUEST_MS 30000

enum lobby_answer connection_admit(void *cls, int fd, const struct sockaddr *address,
                                   socklen_t len)
{
    struct http_server *server = cls;

    if (server->is_tls && !handshake_has_room(server, address))
        return LOBBY_LATER;
    MHD_add_connection(server->mhd, fd, address, len);
    http_server_wake(server); /* from 1.0 on the library looks at it when it runs */
    return LOBBY_TAKEN;
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
    deadline_set(connection, server->is_tls ? FIRST_REQUEST_TLS_MS : FIRST_REQUEST_MS);
    server->counters.connections++;
    if (server->is_tls)
        handshake_begin(connection);
    if (server->certificate)
        connection->certificate = certificate_give(server->certificate, connection->tls);
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
    handshake_end(connection);
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
