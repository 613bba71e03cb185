/* connection_watch.c - what a socket does while nobody reads from it */
#include "common/base/log.h"
#include "server/http/internal.h"

/* The event is level-triggered, so the watch stops at once. An error means that the
 * socket is dead as well. */
static void on_watch(uv_poll_t *watch, int status, int events)
{
    struct http_connection *connection = watch->data;

    (void)status;
    (void)events;
    connection_unwatch(connection);
    connection->seen(connection);
}

static void on_disconnect(struct http_connection *connection)
{
    if (connection->request)
        connection->request->lost(connection->request);
}

void connection_watch_end(struct http_connection *connection)
{
    connection_watch(connection, UV_DISCONNECT, on_disconnect);
}

void connection_watch(struct http_connection *connection, int events,
                      void (*seen)(struct http_connection *connection))
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
        rc = uv_poll_start(&connection->watch, events, on_watch);
    connection->seen = seen;
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
