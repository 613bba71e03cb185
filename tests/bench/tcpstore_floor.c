/* tcpstore_floor.c - what a store would cost that did nothing: one thread, epoll, one
 * recv and one send per request of tcpstore_load's "get", always the same answer
 *
 * usage: tcpstore_floor. Prints its port and serves until it is killed. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 1024
#define REPLY_BYTES 72 /* a length and 64 bytes */
/* The greeting and a value to be set, which come before the first "get" and have no
 * answer. */
#define HELLO_BYTES 90

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int listen_on_loopback(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 4096) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        die("listen");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        die("epoll_ctl");
}

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
    int listener = listen_on_loopback(), epoll = epoll_create1(0);

    watch(epoll, listener);
    for (;;) {
        int n = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd == listener)
                watch(epoll, accept4(listener, NULL, NULL, SOCK_NONBLOCK));
            else
                answer(events[i].data.fd);
        }
    }
}
