/* SPDX-License-Identifier: Apache-2.0 */
/* http_floor.c - measures a lower bound for the cost of an HTTP server
 *
 * The server has one thread and uses epoll. It makes one recv and one send per request,
 * and always sends the same answer.
 *
 * usage: http_floor [BYTES]. The body of each answer has BYTES bytes (default: 3). The
 * program prints "listening on URL", as ringbench-server does, and serves until it is
 * killed. It does not speak TLS. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/floor.h"

#define EVENTS 64
#define ACCEPTS 64
#define OLDEST_FIRST 5 /* lowest descriptor of a client */
#define OLDEST_LAST 10000

struct answer {
    char *text;
    size_t len;
};

/* Without a free descriptor, close an old connection to make room. */
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

/* These clients send each request head in one piece, so heads are not reassembled. */
static void serve(int fd, const struct answer *answer)
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
        /* Fails if the client does not read its answers. */
        if (send(fd, answer->text, answer->len, MSG_NOSIGNAL) < 0)
            return;
    }
}

static struct answer make_answer(size_t bytes)
{
    struct answer answer = {calloc(1, bytes + 100), 0};

    answer.len = (size_t)sprintf(answer.text,
                                 "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", bytes);
    memset(answer.text + answer.len, '\n', bytes);
    answer.len += bytes;
    return answer;
}

int main(int argc, char **argv)
{
    const struct answer answer = make_answer(argc > 1 ? strtoul(argv[1], NULL, 10) : 3);
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
                serve(events[i].data.fd, &answer);
    }
}
