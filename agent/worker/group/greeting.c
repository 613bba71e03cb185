/* SPDX-License-Identifier: Apache-2.0 */
/* greeting.c - open a rank's listening port, and check the greeting that starts each
 * connection */
#include "agent/worker/group/greeting.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/worker/group/listen.h"
#include "common/base/log.h"

#define SILENT_S 10     /* the kernel holds back a connection without bytes this long */
#define GREETING_MS 500 /* long enough for TCP to resend a lost greeting */

struct greeting {
    char magic[8];
    unsigned char token[TOKEN_BYTES];
    uint32_t rank, purpose; /* in network byte order */
};

static const char greeting_magic[8] = {'r', 'b', 't', 'r', 'e', 'e', '0', '1'};

void greeting_format_token(const unsigned char token[TOKEN_BYTES], char text[TOKEN_TEXT])
{
    for (int i = 0; i < TOKEN_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", token[i]);
}

int greeting_parse_token(const char *text, unsigned char token[TOKEN_BYTES])
{
    if (strlen(text) != TOKEN_TEXT - 1)
        return -1;
    for (int i = 0; i < TOKEN_BYTES; i++) {
        unsigned value;
        if (sscanf(text + 2 * i, "%2x", &value) != 1)
            return -1;
        token[i] = (unsigned char)value;
    }
    return 0;
}

int greeting_listen(struct greeting_port *port, const char *host, int *number,
                    struct error *err)
{
    int silent_s = SILENT_S;

    *port = (struct greeting_port){.listener = -1};
    if (getrandom(port->token, TOKEN_BYTES, 0) != TOKEN_BYTES)
        return error_set_errno(err, ERROR_IO, errno, "cannot read random numbers");
    port->listener = listen_on(host && host[0] ? host : "127.0.0.1", number, err);
    if (port->listener < 0)
        return -1;
    setsockopt(port->listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silent_s,
               sizeof(silent_s));
    return 0;
}

void greeting_close(struct greeting_port *port)
{
    if (port->listener >= 0)
        close(port->listener);
    port->listener = -1;
}

/* Only the first rejection is logged, because a port scan must not fill the log. */
static void reject(struct greeting_port *port, int fd, const char *why)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);
    char host[64] = "?", number[8] = "?";

    if (!port->has_warned && !getpeername(fd, (struct sockaddr *)&peer, &len)) {
        getnameinfo((struct sockaddr *)&peer, len, host, sizeof(host), number,
                    sizeof(number), NI_NUMERICHOST | NI_NUMERICSERV);
    }
    if (!port->has_warned)
        log_warn("closed a connection from %s port %s: %s. Only ranks of the case may "
                 "connect to this port. Further attempts are not logged",
                 host, number, why);
    port->has_warned = true;
    close(fd);
}

void greeting_refuse(struct greeting_port *port, int fd)
{
    reject(port, fd, "no connection from this rank is expected");
}

/* Compare in constant time, so that the duration reveals nothing about the token. */
static bool is_token(const struct greeting_port *port, const unsigned char *token)
{
    unsigned difference = 0;

    for (int i = 0; i < TOKEN_BYTES; i++)
        difference |= (unsigned)(port->token[i] ^ token[i]);
    return difference == 0;
}

int greeting_accept(struct greeting_port *port, int ms, struct greeting_caller *caller,
                    struct error *err)
{
    struct pollfd pollfd = {.fd = port->listener, .events = POLLIN};
    struct greeting greeting;

    if (poll(&pollfd, 1, ms) <= 0)
        return 0;
    int fd = accept4(port->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return errno == EAGAIN || errno == ECONNABORTED || errno == EINTR
                   ? 0
                   : error_set_errno(err, ERROR_IO, errno, "cannot accept a connection");
    /* A rank sends its greeting at once and in one piece. Usually TCP_DEFER_ACCEPT delays
     * the accept until the greeting has arrived. With SYN cookies, which hundreds of
     * connections trigger, the greeting may arrive later. */
    pollfd.fd = fd;
    poll(&pollfd, 1, GREETING_MS);
    ssize_t n = recv(fd, &greeting, sizeof(greeting), MSG_DONTWAIT);
    if (n != (ssize_t)sizeof(greeting) ||
        memcmp(greeting.magic, greeting_magic, sizeof(greeting_magic)) != 0 ||
        !is_token(port, greeting.token)) {
        reject(port, fd,
               n <= 0 ? "it sent no greeting" : "it did not send the greeting of a rank");
        return 0;
    }
    *caller = (struct greeting_caller){fd, (int)ntohl(greeting.rank),
                                       (int)ntohl(greeting.purpose)};
    return 1;
}

int greeting_send(int fd, const unsigned char token[TOKEN_BYTES], int rank, int purpose,
                  struct error *err)
{
    struct greeting greeting = {.rank = htonl((uint32_t)rank),
                                .purpose = htonl((uint32_t)purpose)};

    memcpy(greeting.magic, greeting_magic, sizeof(greeting_magic));
    memcpy(greeting.token, token, TOKEN_BYTES);
    /* The send buffer of a new connection is empty, so the whole greeting fits: a short
     * send is a failure. */
    if (send(fd, &greeting, sizeof(greeting), MSG_NOSIGNAL) != (ssize_t)sizeof(greeting))
        return error_set_errno(err, ERROR_PEER, errno, "cannot send the greeting");
    return 0;
}
