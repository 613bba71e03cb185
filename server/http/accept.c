/* accept.c - new connections, and the limit of their number */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/internal.h"

#define ACCEPTS_PER_TURN 64
/* Connections are closed for new ones when so small a part of the limit is left. */
#define HEADROOM 64
/* Look for room so often before connections are refused. */
#define RETRY_MS 1
#define RETRIES_MAX 100

static void on_connections(uv_poll_t *poll, int status, int events);

static void on_retry(uv_timer_t *retry)
{
    struct http_server *server = retry->data;

    uv_poll_start(&server->listener, UV_READABLE, on_connections);
}

/* Accept nobody for a while. */
static void pause_accepting(struct http_server *server)
{
    uv_poll_stop(&server->listener);
    uv_timer_start(&server->retry, on_retry, RETRY_MS, 0);
}

/* The kernel does not say so if the process has no descriptor left. */
static bool is_somebody_there(const struct http_server *server)
{
    struct pollfd listener = {.fd = server->listen_fd, .events = POLLIN};

    return poll(&listener, 1, 0) == 1;
}

/* The process has no descriptor left. */
static void on_scarcity(struct http_server *server)
{
    if (!is_somebody_there(server))
        return;
    uv_mutex_lock(&server->lock);
    if (server->n_evicted == 0)
        connection_evict(server);
    uv_mutex_unlock(&server->lock);
    pause_accepting(server);
}

enum room { ROOM, ROOM_SOON, ROOM_NONE };

/* Near the limit, close a connection for each new one: the one that has waited longest
 * for its client. The library closes it a little later. */
static enum room make_room(struct http_server *server)
{
    unsigned max = server->max_connections, open, ending;

    uv_mutex_lock(&server->lock);
    open = server->counters.connections;
    if (open - server->n_evicted >= max - max / HEADROOM && is_somebody_there(server))
        connection_evict(server);
    ending = server->n_evicted;
    uv_mutex_unlock(&server->lock);
    if (open < max)
        return ROOM;
    return ending > 0 ? ROOM_SOON : ROOM_NONE;
}

static void count_waiting(struct http_server *server, int by)
{
    uv_mutex_lock(&server->lock);
    server->counters.connections += (unsigned)by;
    server->counters.waiting += (unsigned)by;
    uv_mutex_unlock(&server->lock);
}

/* Counted first: the library may be done with it before the call returns. */
static void admit(struct http_server *server, int fd, const struct sockaddr_storage *peer,
                  socklen_t len)
{
    count_waiting(server, 1);
    if (MHD_add_connection(server->mhd, fd, (const struct sockaddr *)peer, len) !=
        MHD_YES)
        count_waiting(server, -1);
}

static int refuse_one(struct http_server *server)
{
    int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        return -1;
    close(fd);
    uv_mutex_lock(&server->lock);
    server->counters.refused++;
    uv_mutex_unlock(&server->lock);
    return 0;
}

/* -1: there is no new connection, or no room now. There may be room in a moment, when
 * requests that are under way have been answered. */
static int accept_one(struct http_server *server)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof(peer);
    enum room room = make_room(server);
    int fd;

    if (room == ROOM_SOON || (room == ROOM_NONE && server->retries++ < RETRIES_MAX)) {
        pause_accepting(server);
        return -1;
    }
    if (room == ROOM_NONE)
        return refuse_one(server);
    server->retries = 0;
    fd = accept4(server->listen_fd, (struct sockaddr *)&peer, &len,
                 SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        admit(server, fd, &peer, len);
    else if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
        on_scarcity(server);
    return fd >= 0 ? 0 : -1;
}

static void on_connections(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPTS_PER_TURN && accept_one(poll->data) == 0; i++)
        ;
}

void accept_start(struct http_server *server, int listener)
{
    server->listen_fd = listener;
    uv_poll_init(server->loop, &server->listener, listener);
    uv_timer_init(server->loop, &server->retry);
    server->listener.data = server->retry.data = server;
    server->handles += 2;
    uv_poll_start(&server->listener, UV_READABLE, on_connections);
}

void accept_close(struct http_server *server, uv_close_cb closed)
{
    uv_close((uv_handle_t *)&server->listener, closed);
    uv_close((uv_handle_t *)&server->retry, closed);
    close(server->listen_fd);
}
