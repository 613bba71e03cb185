/* rendezvous_listen.c - the listening sockets of stores */
#include "server/rendezvous/rendezvous_listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "server/rendezvous/rendezvous_peer.h"

#define BACKLOG 4096
#define KEEPALIVE_IDLE_S 60

static void set_port(struct sockaddr_storage *address, int port)
{
    if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
}

static socklen_t length(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
}

/* Accepted sockets inherit these from the listener, which saves three calls for each. */
static void set_options(int fd)
{
    const int on = 1, off = 0, idle_s = KEEPALIVE_IDLE_S;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

int rendezvous_listen(const struct sockaddr_storage *address, int port)
{
    struct sockaddr_storage bound = *address;
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int saved;

    if (fd < 0)
        return -1;
    set_options(fd);
    set_port(&bound, port);
    if (bind(fd, (struct sockaddr *)&bound, length(&bound)) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

int rendezvous_bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    struct peer peer;

    if (getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        return -1;
    peer_from_sockaddr(&peer, (const struct sockaddr *)&address);
    return (int)peer.port;
}

int rendezvous_parse_address(struct sockaddr_storage *address, const char *text,
                             struct error *err)
{
    int probe;

    memset(address, 0, sizeof(*address));
    if (uv_ip4_addr(text, 0, (struct sockaddr_in *)address) == 0)
        return 0;
    if (uv_ip6_addr(text, 0, (struct sockaddr_in6 *)address) < 0)
        return error_set(err, ERROR_INVALID, "\"%s\" is not a numeric address", text);
    if (strcmp(text, "::") != 0)
        return 0;
    probe = rendezvous_listen(address, 0);
    if (probe >= 0)
        close(probe);
    else if (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)
        return rendezvous_parse_address(address, "0.0.0.0", err);
    return 0;
}
