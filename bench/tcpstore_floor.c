/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_floor.c - measures a lower bound for the cost of a store
 *
 * The server has one thread and uses epoll. It makes one recv and one send per "get" of
 * tcpstore_load, and always sends the same answer.
 *
 * usage: tcpstore_floor. Prints its port and serves until it is killed. */
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/floor.h"

#define EVENTS 1024
#define REPLY_BYTES 72 /* a length and 64 bytes */
/* Clients send a greeting and a SET, which have no reply, before the first "get". */
#define HELLO_BYTES 90

static void answer(int fd)
{
    static const char reply[REPLY_BYTES] = {REPLY_BYTES - 8};
    static char request[65536];
    ssize_t n = recv(fd, request, sizeof(request), 0);

    if (n <= 0 || (n != HELLO_BYTES &&
                   send(fd, reply, sizeof(reply), MSG_NOSIGNAL) != sizeof(reply)))
        close(fd);
}

int main(void)
{
    struct epoll_event events[EVENTS];
    const int on = 1;
    int epoll = epoll_create1(0), port, listener = listen_on_loopback(&port);

    /* Accepted sockets inherit the option. */
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    printf("%d\n", port);
    fflush(stdout);
    watch(epoll, listener);
    for (;;) {
        int n = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < n; i++)
            if (events[i].data.fd == listener)
                watch(epoll, accept4(listener, NULL, NULL, SOCK_NONBLOCK));
            else
                answer(events[i].data.fd);
    }
}
