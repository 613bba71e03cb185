/* http_floor.c - what a server would take that did nothing: one thread, epoll, one recv
 * and one short answer per head of a request, whatever it asks for
 *
 * usage: http_floor. Prints "listening on URL", as the server does, and serves until it
 * is killed. Speaks no TLS: to hellos it gives no answer. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/floor.h"

#define EVENTS 64
#define ACCEPTS 64
#define OLDEST_FIRST 5 /* descriptors, after our own */
#define OLDEST_LAST 10000

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";

/* One goes where there is no room for another. */
static void accept_some(int epoll, int listener, int *oldest)
{
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

        if (fd >= 0)
            watch(epoll, fd);
        else if (errno == EMFILE)
            close(*oldest = *oldest < OLDEST_LAST ? *oldest + 1 : OLDEST_FIRST);
        else
            return;
    }
}

/* Heads come whole from these clients; what is no end of one is a part of a body, or of
 * what never ends. */
static void serve(int fd)
{
    static char text[4096];
    ssize_t n = recv(fd, text, sizeof(text), 0);
    const char *end = text;

    if (n <= 0) {
        close(fd);
        return;
    }
    while ((end = memmem(end, (size_t)(text + n - end), "\r\n\r\n", 4))) {
        end += 4;
        /* Fails where the client does not read. */
        if (send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL) < 0)
            return;
    }
}

int main(void)
{
    struct epoll_event events[EVENTS];
    int epoll = epoll_create1(0), oldest = OLDEST_FIRST, port;
    int listener = listen_on_loopback(&port);

    printf("listening on http://127.0.0.1:%d\n", port);
    fflush(stdout);
    watch(epoll, listener);
    for (;;) {
        int n = epoll_wait(epoll, events, EVENTS, -1);

        for (int i = 0; i < n; i++)
            if (events[i].data.fd == listener)
                accept_some(epoll, listener, &oldest);
            else
                serve(events[i].data.fd);
    }
}
