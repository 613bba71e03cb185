/* SPDX-License-Identifier: Apache-2.0 */
/* accept.c - accepts connections, limits their number, and orders TLS handshakes */
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
/* A TLS handshake occupies a thread of the library for about a millisecond, so at most
 * one handshake starts per millisecond. */
#define HANDSHAKE_MS 1
/* When fewer than limit / HEADROOM connections are free, each new connection closes an
 * old one. */
#define HEADROOM 64
/* Interval (in milliseconds) and maximum number of attempts to find room before a
 * connection is refused. */
#define RETRY_MS 1
#define RETRIES_MAX 100

/* A connection that waits for its TLS handshake. Connections from addresses with few
 * waiting connections go first, so that a thousand connections from one address do not
 * delay the others. */
struct handshake {
    int fd;
    unsigned address, rank;
    struct sockaddr_storage peer;
    socklen_t peer_len;
    TAILQ_ENTRY(handshake) next;
};

static void handshake_remove(struct handshakes *handshakes, struct handshake *handshake)
{
    TAILQ_REMOVE(&handshakes->ranks[handshake->rank], handshake, next);
    handshakes->counts[handshake->address]--;
    free(handshake);
}

static struct handshake *handshake_first(struct handshakes *handshakes)
{
    struct handshake *handshake = NULL;

    for (unsigned i = 0; i < HANDSHAKE_RANKS && !handshake; i++)
        handshake = TAILQ_FIRST(&handshakes->ranks[i]);
    return handshake;
}

/* Return a hash of the address. Only the first 64 bits of an IPv6 address are used,
 * because one host may own a /64. Addresses with the same hash share a count. */
static unsigned address_number(const struct sockaddr_storage *peer)
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)peer)->sin6_addr;
    const struct in_addr *four = &((const struct sockaddr_in *)peer)->sin_addr;

    if (peer->ss_family != AF_INET6)
        return fnv1a(FNV1A_BEGIN, four, sizeof(*four)) % HANDSHAKE_ADDRESSES;
    if (IN6_IS_ADDR_V4MAPPED(six))
        return fnv1a(FNV1A_BEGIN, six->s6_addr + 12, 4) % HANDSHAKE_ADDRESSES;
    return fnv1a(FNV1A_BEGIN, six->s6_addr, 8) % HANDSHAKE_ADDRESSES;
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

static void drop_handshake(struct http_server *server, struct handshake *handshake)
{
    close(handshake->fd);
    handshake_remove(&server->handshakes, handshake);
    count_closed(server);
}

static void on_connections(uv_poll_t *poll, int status, int events);

static void on_tick(uv_timer_t *tick)
{
    struct http_server *server = tick->data;
    struct handshake *handshake = handshake_first(&server->handshakes);

    uv_poll_start(&server->listener, UV_READABLE, on_connections);
    if (!handshake)
        return;
    admit(server, handshake->fd, &handshake->peer, handshake->peer_len);
    handshake_remove(&server->handshakes, handshake);
    uv_timer_start(tick, on_tick, HANDSHAKE_MS, 0);
}

static void wait_for_handshake(struct http_server *server, int fd,
                               const struct sockaddr_storage *peer, socklen_t len)
{
    struct handshakes *handshakes = &server->handshakes;
    struct handshake *handshake = memory_zeroed(1, sizeof(*handshake), "a connection");

    handshake->fd = fd;
    handshake->peer = *peer;
    handshake->peer_len = len;
    handshake->address = address_number(peer);
    handshake->rank = handshakes->counts[handshake->address]++;
    if (handshake->rank >= HANDSHAKE_RANKS)
        handshake->rank = HANDSHAKE_RANKS - 1;
    TAILQ_INSERT_TAIL(&handshakes->ranks[handshake->rank], handshake, next);
    if (!uv_is_active((uv_handle_t *)&server->handshake))
        uv_timer_start(&server->handshake, on_tick, 0, 0);
}

/* Accept no connection for RETRY_MS. */
static void pause_accepting(struct http_server *server)
{
    uv_poll_stop(&server->listener);
    uv_timer_start(&server->handshake, on_tick, RETRY_MS, 0);
}

/* True if a connection waits to be accepted. accept() does not report this when the
 * process has no free file descriptor. */
static bool has_pending_connection(const struct http_server *server)
{
    struct pollfd listener = {.fd = server->listen_fd, .events = POLLIN};

    return poll(&listener, 1, 0) == 1;
}

/* Called when accept() fails because the process has no free file descriptor. */
static void on_scarcity(struct http_server *server)
{
    if (!has_pending_connection(server))
        return;
    uv_mutex_lock(&server->lock);
    if (server->n_evicted == 0)
        connection_evict(server);
    uv_mutex_unlock(&server->lock);
    pause_accepting(server);
}

enum room { ROOM, ROOM_SOON, ROOM_NONE };

/* Near the limit, close an old connection for each new one: the one that has waited
 * longest for its client, or else one that waits for its handshake. The library closes it
 * with a delay. */
static enum room make_room(struct http_server *server)
{
    struct handshake *last = TAILQ_FIRST(&server->handshakes.ranks[HANDSHAKE_RANKS - 1]);
    unsigned max = server->max_connections, open, ending;

    uv_mutex_lock(&server->lock);
    open = server->counters.connections;
    if (open - server->n_evicted >= max - max / HEADROOM &&
        has_pending_connection(server))
        connection_evict(server);
    ending = server->n_evicted;
    uv_mutex_unlock(&server->lock);
    if (open < max)
        return ROOM;
    if (ending > 0)
        return ROOM_SOON;
    if (!last)
        return ROOM_NONE;
    drop_handshake(server, last);
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

/* Accept a connection. Returns -1 if there is none, or if there is currently no room.
 * Answers to current requests may soon make room. */
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
    for (int i = 0; i < HANDSHAKE_RANKS; i++)
        TAILQ_INIT(&server->handshakes.ranks[i]);
    server->listen_fd = listener;
    uv_poll_init(server->loop, &server->listener, listener);
    uv_timer_init(server->loop, &server->handshake);
    server->listener.data = server->handshake.data = server;
    server->handles += 2;
    uv_poll_start(&server->listener, UV_READABLE, on_connections);
}

void accept_close(struct http_server *server, uv_close_cb closed)
{
    struct handshake *handshake;

    while ((handshake = handshake_first(&server->handshakes)))
        drop_handshake(server, handshake);
    uv_close((uv_handle_t *)&server->listener, closed);
    uv_close((uv_handle_t *)&server->handshake, closed);
    close(server->listen_fd);
}
