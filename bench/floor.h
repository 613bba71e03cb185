/* SPDX-License-Identifier: Apache-2.0 */
/* floor.h - starts the loopback servers of the floor benchmarks */
#ifndef RINGBENCH_TESTS_BENCH_FLOOR_H
#define RINGBENCH_TESTS_BENCH_FLOOR_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static inline void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Returns a non-blocking listener and sets its port. */
static inline int listen_on_loopback(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 4096) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        die("listen");
    *port = ntohs(address.sin_port);
    return fd;
}

static inline void watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        die("epoll_ctl");
}

#endif
