/* handshake.c - TLS handshakes under way */
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "server/http/internal.h"

/* An unfinished one costs some 20 KB. */
#define HANDSHAKES_MAX 1024
#define HANDSHAKES_PER_ADDRESS 256
/* Beyond that the oldest goes, if it had this time; else the next one waits in the lobby,
 * but for an address that has hardly any. */
#define GRACE_MS 1000
#define FEW 4

static void move(struct http_connection *connection, struct http_connection_list *to)
{
    if (connection->shaking)
        TAILQ_REMOVE(connection->shaking, connection, handshakes);
    if (to)
        TAILQ_INSERT_TAIL(to, connection, handshakes);
    connection->shaking = to;
}

bool handshake_has_room(struct http_server *server, const struct sockaddr *address)
{
    struct http_connection *connection;
    unsigned count;
    struct roster_entry *oldest = roster_oldest_of(&server->handshakes, address, &count);

    if (count < HANDSHAKES_PER_ADDRESS) {
        if (server->handshakes.count < HANDSHAKES_MAX)
            return true;
        oldest = roster_oldest(&server->handshakes);
    }
    if (count >= FEW && uv_now(server->loop) - oldest->since_ms < GRACE_MS)
        return false;
    connection = oldest->owner;
    roster_remove(&server->handshakes, oldest);
    shutdown(connection->fd, SHUT_RDWR);
    return true;
}

void handshake_begin(struct http_connection *connection)
{
    struct http_server *server = connection->server;
    const struct sockaddr *address =
        MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
            ->client_addr;

    connection->tls =
        MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION)
            ->tls_session;
    connection->handshake.owner = connection;
    /* Without memory for it it does not count. */
    roster_add(&server->handshakes, &connection->handshake, address,
               uv_now(server->loop));
    move(connection, &server->shaking);
}

void handshake_end(struct http_connection *connection)
{
    roster_remove(&connection->server->handshakes, &connection->handshake);
    move(connection, NULL);
}

static void on_spoken(struct http_connection *connection)
{
    move(connection, &connection->server->woken);
    http_server_wake(connection->server);
}

/* GnuTLS reads no more than a record at a time, so what it has not seen is in the kernel.
 */
static bool waits_for_client(const struct http_connection *connection)
{
    int unread = 0;

    return ioctl(connection->fd, FIONREAD, &unread) == 0 && unread == 0;
}

void handshake_hold(struct http_server *server)
{
    struct http_connection *connection, *next;

    for (connection = TAILQ_FIRST(&server->shaking); connection; connection = next) {
        next = TAILQ_NEXT(connection, handshakes);
        if (gnutls_handshake_get_last_in(connection->tls) == GNUTLS_HANDSHAKE_FINISHED) {
            handshake_end(connection);
        } else if (waits_for_client(connection)) {
            connection_watch(connection, UV_READABLE | UV_DISCONNECT, on_spoken);
            if (!connection->is_watching)
                continue;
            MHD_suspend_connection(connection->mhd);
            move(connection, &server->held);
        }
    }
}

void handshake_resume(struct http_server *server, unsigned limit)
{
    struct http_connection *connection;

    while (limit-- > 0 && (connection = TAILQ_FIRST(&server->woken))) {
        MHD_resume_connection(connection->mhd);
        move(connection, &server->shaking);
    }
}

void handshake_resume_all(struct http_server *server)
{
    struct http_connection *connection;

    while ((connection = TAILQ_FIRST(&server->held))) {
        connection_unwatch(connection);
        move(connection, &server->woken);
    }
    handshake_resume(server, UINT32_MAX);
}
