/* SPDX-License-Identifier: Apache-2.0 */
/* accept.c - new connections: the limit of their number, and the order of handshakes */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/fnv.h"
#include "common/base/memory.h"
#include "server/http/internal.h"

#define ACCEPTS_PER_TURN 64
/* A handshake costs a library's thread about a millisecond, so no more than one begins in
 * each. */
#define HANDSHAKE_MS 1
/* Connections are closed for new ones when so small a part of the limit is left. */
#define HEADROOM 64
/* Look for room so often before connections are refused. */
#define RETRY_MS 1
#define RETRIES_MAX 100

/* A connection that waits for its handshake. Addresses with few of these come first, so
 * that nobody waits for the thousand connections of somebody else. */
struct hello {
    int fd;
    unsigned address, rank;
    struct sockaddr_storage peer;
    socklen_t peer_len;
    TAILQ_ENTRY(hello) next;
};

static void hello_remove(struct hellos *hellos, struct hello *hello)
{
    TAILQ_REMOVE(&hellos->ranks[hello->rank], hello, next);
    hellos->counts[hello->address]--;
    free(hello);
}

static struct hello *hello_first(struct hellos *hellos)
{
    struct hello *hello = NULL;

    for (unsigned i = 0; i < HELLO_RANKS && !hello; i++)
        hello = TAILQ_FIRST(&hellos->ranks[i]);
    return hello;
}

/* An IPv6 address stands for its /64, which is what one host may have. Two addresses may
 * have the same number: they wait for each other. */
static unsigned address_number(const struct sockaddr_storage *peer)
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)peer)->sin6_addr;
    const struct in_addr *four = &((const struct sockaddr_in *)peer)->sin_addr;

    if (peer->ss_family != AF_INET6)
        return fnv1a(FNV1A_BEGIN, four, sizeof(*four)) % HELLO_ADDRESSES;
    if (IN6_IS_ADDR_V4MAPPED(six))
        return fnv1a(FNV1A_BEGIN, six->s6_addr + 12, 4) % HELLO_ADDRESSES;
    return fnv1a(FNV1A_BEGIN, six->s6_addr, 8) % HELLO_ADDRESSES;
}

static void count_closed(struct http_server *server)
{
    uv_mutex_lock(&server->lock);
    server->counters.connections--;
    server->counters.waiting--;
    uv_mutex_unlock(&server->lock);
}

static void admit(struct http_server *server, int fd, const struct sockaddr_storage *peer,
                  socklen_t len)
{
    if (MHD_add_connection(server->mhd, fd, (const struct sockaddr *)peer, len) !=
        MHD_YES)
        count_closed(server);
}

static void drop_hello(struct http_server *server, struct hello *hello)
{
    close(hello->fd);
    hello_remove(&server->hellos, hello);
    count_closed(server);
}

static void on_connections(uv_poll_t *poll, int status, int events);

static void on_tick(uv_timer_t *tick)
{
    struct http_server *server = tick->data;
    struct hello *hello = hello_first(&server->hellos);

    uv_poll_start(&server->listener, UV_READABLE, on_connections);
    if (!hello)
        return;
    admit(server, hello->fd, &hello->peer, hello->peer_len);
    hello_remove(&server->hellos, hello);
    uv_timer_start(tick, on_tick, HANDSHAKE_MS, 0);
}

static void wait_for_handshake(struct http_server *server, int fd,
                               const struct sockaddr_storage *peer, socklen_t len)
{
    struct hellos *hellos = &server->hellos;
    struct hello *hello = memory_zeroed(1, sizeof(*hello), "a connection");

    hello->fd = fd;
    hello->peer = *peer;
    hello->peer_len = len;
    hello->address = address_number(peer);
    hello->rank = hellos->counts[hello->address]++;
    if (hello->rank >= HELLO_RANKS)
        hello->rank = HELLO_RANKS - 1;
    TAILQ_INSERT_TAIL(&hellos->ranks[hello->rank], hello, next);
    if (!uv_is_active((uv_handle_t *)&server->hello))
        uv_timer_start(&server->hello, on_tick, 0, 0);
}

/* Accept nobody for a while. */
static void pause_accepting(struct http_server *server)
{
    uv_poll_stop(&server->listener);
    uv_timer_start(&server->hello, on_tick, RETRY_MS, 0);
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
 * for its client, else one that waits for its handshake. The library closes it a little
 * later. */
static enum room make_room(struct http_server *server)
{
    struct hello *last = TAILQ_FIRST(&server->hellos.ranks[HELLO_RANKS - 1]);
    unsigned max = server->max_connections, open, ending;

    uv_mutex_lock(&server->lock);
    open = server->counters.connections;
    if (open - server->n_evicted >= max - max / HEADROOM && is_somebody_there(server))
        connection_evict(server);
    ending = server->n_evicted;
    uv_mutex_unlock(&server->lock);
    if (open < max)
        return ROOM;
    if (ending > 0)
        return ROOM_SOON;
    if (!last)
        return ROOM_NONE;
    drop_hello(server, last);
    return ROOM;
}

static void receive(struct http_server *server, int fd,
                    const struct sockaddr_storage *peer, socklen_t len)
{
    uv_mutex_lock(&server->lock);
    server->counters.connections++;
    server->counters.waiting++;
    uv_mutex_unlock(&server->lock);
    if (server->is_tls)
        wait_for_handshake(server, fd, peer, len);
    else
        admit(server, fd, peer, len);
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
        receive(server, fd, &peer, len);
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
    for (int i = 0; i < HELLO_RANKS; i++)
        TAILQ_INIT(&server->hellos.ranks[i]);
    server->listen_fd = listener;
    uv_poll_init(server->loop, &server->listener, listener);
    uv_timer_init(server->loop, &server->hello);
    server->listener.data = server->hello.data = server;
    server->handles += 2;
    uv_poll_start(&server->listener, UV_READABLE, on_connections);
}

void accept_close(struct http_server *server, uv_close_cb closed)
{
    struct hello *hello;

    while ((hello = hello_first(&server->hellos)))
        drop_hello(server, hello);
    uv_close((uv_handle_t *)&server->listener, closed);
    uv_close((uv_handle_t *)&server->hello, closed);
    close(server->listen_fd);
}
