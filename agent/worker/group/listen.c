/* SPDX-License-Identifier: Apache-2.0 */
/* listen.c - open a listening socket for the peers of a rank */
#include "agent/worker/group/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int listen_on(const char *host, int *port, struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    int status = getaddrinfo(host, "0", &hints, &list);

    memset(&bound, 0, sizeof(bound));
    if (status)
        return error_set(err, ERROR_IO, "address %s: %s", host, gai_strerror(status));
    int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int failed = fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) ||
                 listen(fd, SOMAXCONN) ||
                 getsockname(fd, (struct sockaddr *)&bound, &len);
    int failure = errno;
    freeaddrinfo(list);
    if (failed) {
        if (fd >= 0)
            close(fd);
        return error_set_errno(err, ERROR_IO, failure, "cannot listen on %s", host);
    }
    *port = bound.ss_family == AF_INET6
                ? ntohs(((struct sockaddr_in6 *)(void *)&bound)->sin6_port)
                : ntohs(((struct sockaddr_in *)(void *)&bound)->sin_port);
    return fd;
}
