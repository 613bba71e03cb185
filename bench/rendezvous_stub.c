/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous_stub.c - runs a TCPStore for tests and benchmarks without the server */
#include "bench/rendezvous_stub.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS_MAX 1024
#define KEYS_MAX 4096
#define BUFFER 65536

struct text {
    char *data;
    uint64_t len;
};

struct client {
    int fd;
    unsigned char in[BUFFER];
    size_t held;
    struct text *awaited; /* keys that a waiting client's WAIT names */
    uint64_t n_awaited;
};

struct stub {
    struct client *clients[CLIENTS_MAX];
    int n_clients;
    struct text keys[KEYS_MAX], values[KEYS_MAX];
    int n_keys;
};

/* The unparsed part of a request. */
struct reader {
    const unsigned char *at;
    size_t left;
    bool is_short;
};

static uint64_t read_int(struct reader *reader, size_t bytes)
{
    uint64_t value = 0;

    if (reader->left < bytes) {
        reader->is_short = true;
        return 0;
    }
    memcpy(&value, reader->at, bytes);
    reader->at += bytes;
    reader->left -= bytes;
    return value;
}

/* The text is borrowed from the client's buffer. */
static struct text read_text(struct reader *reader)
{
    struct text text = {NULL, read_int(reader, 8)};

    if (reader->is_short || reader->left < text.len) {
        reader->is_short = true;
        return text;
    }
    text.data = (char *)(uintptr_t)reader->at;
    reader->at += text.len;
    reader->left -= text.len;
    return text;
}

static struct text copy_text(struct text text)
{
    char *data = malloc(text.len + 1);

    if (!data)
        abort();
    memcpy(data, text.data, text.len);
    data[text.len] = '\0';
    return (struct text){data, text.len};
}

static int find(const struct stub *stub, struct text key)
{
    for (int i = 0; i < stub->n_keys; i++)
        if (stub->keys[i].len == key.len &&
            memcmp(stub->keys[i].data, key.data, key.len) == 0)
            return i;
    return -1;
}

static void reply(struct client *client, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = send(client->fd, at, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        at += n;
        len -= (size_t)n;
    }
}

static void reply_text(struct client *client, struct text text)
{
    reply(client, &text.len, 8);
    reply(client, text.data, text.len);
}

static void forget_wait(struct client *client)
{
    for (uint64_t i = 0; i < client->n_awaited; i++)
        free(client->awaited[i].data);
    free(client->awaited);
    client->awaited = NULL;
    client->n_awaited = 0;
}

static bool all_there(const struct stub *stub, const struct text *keys, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (find(stub, keys[i]) < 0)
            return false;
    return true;
}

static void put(struct stub *stub, struct text key, struct text value)
{
    char stop_waiting = 0;
    int at = find(stub, key);

    if (at < 0) {
        if (stub->n_keys == KEYS_MAX)
            abort();
        at = stub->n_keys++;
        stub->keys[at] = copy_text(key);
    } else {
        free(stub->values[at].data);
    }
    stub->values[at] = copy_text(value);
    for (int i = 0; i < stub->n_clients; i++) {
        struct client *client = stub->clients[i];
        if (client->awaited && all_there(stub, client->awaited, client->n_awaited)) {
            forget_wait(client);
            reply(client, &stop_waiting, 1);
        }
    }
}

static void add(struct stub *stub, struct client *client, struct text key, int64_t delta)
{
    int at = find(stub, key);
    int64_t value = (at >= 0 ? strtoll(stub->values[at].data, NULL, 10) : 0) + delta;
    char digits[32];
    int len = snprintf(digits, sizeof(digits), "%lld", (long long)value);

    put(stub, key, (struct text){digits, (uint64_t)len});
    reply(client, &value, 8);
}

static void compare_set(struct stub *stub, struct client *client, struct text key,
                        struct text expected, struct text desired)
{
    int at = find(stub, key);
    struct text stored = at >= 0 ? stub->values[at] : (struct text){expected.data, 0};

    if (stored.len == expected.len &&
        memcmp(stored.data, expected.data, expected.len) == 0) {
        put(stub, key, desired);
        reply_text(client, desired);
    } else {
        reply_text(client, at >= 0 ? stored : expected);
    }
}

static void wait_for(struct stub *stub, struct client *client, struct reader *reader,
                     bool is_check)
{
    uint64_t n = read_int(reader, 8);
    struct text *keys = calloc(n + 1, sizeof(*keys));

    if (!keys)
        abort();
    for (uint64_t i = 0; i < n && !reader->is_short; i++)
        keys[i] = read_text(reader);
    if (reader->is_short) {
        free(keys);
        return;
    }
    char answer = all_there(stub, keys, n) ? 0 : 1;
    if (is_check || answer == 0) {
        reply(client, &answer, 1);
        free(keys);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        keys[i] = copy_text(keys[i]);
    client->awaited = keys;
    client->n_awaited = n;
}

/* Does nothing until a request is complete. */
static void serve_request(struct stub *stub, struct client *client, struct reader *reader)
{
    uint64_t query = read_int(reader, 1);
    struct text key = {0}, first = {0}, second = {0};
    char canceled = 1;

    if (query == 0 || query == 13) {
        uint32_t number = (uint32_t)read_int(reader, 4);
        if (query == 13 && !reader->is_short)
            reply(client, &number, 4);
        return;
    }
    if (query == 5 || query == 6) {
        wait_for(stub, client, reader, query == 5);
        return;
    }
    if (query == 12) {
        forget_wait(client);
        reply(client, &canceled, 1);
        return;
    }
    key = read_text(reader);
    if (query == 1 || query == 2)
        first = read_text(reader);
    if (query == 2)
        second = read_text(reader);
    int64_t delta = query == 4 ? (int64_t)read_int(reader, 8) : 0;
    if (reader->is_short)
        return;
    if (query == 1) {
        put(stub, key, first);
    } else if (query == 2) {
        compare_set(stub, client, key, first, second);
    } else if (query == 3) {
        int at = find(stub, key);
        reply_text(client, at >= 0 ? stub->values[at] : (struct text){key.data, 0});
    } else if (query == 4) {
        add(stub, client, key, delta);
    }
}

static void serve_client(struct stub *stub, struct client *client)
{
    for (;;) {
        struct reader reader = {client->in, client->held, client->held == 0};
        if (!reader.is_short)
            serve_request(stub, client, &reader);
        if (reader.is_short)
            return;
        memmove(client->in, reader.at, reader.left);
        client->held = reader.left;
    }
}

/* False: the client has closed the connection. */
static bool receive(struct stub *stub, struct client *client)
{
    ssize_t n = recv(client->fd, client->in + client->held, BUFFER - client->held, 0);

    if (n <= 0)
        return n < 0 && errno == EINTR;
    client->held += (size_t)n;
    serve_client(stub, client);
    return true;
}

static void drop(struct stub *stub, int i)
{
    close(stub->clients[i]->fd);
    forget_wait(stub->clients[i]);
    free(stub->clients[i]);
    stub->clients[i] = stub->clients[--stub->n_clients];
}

static void admit(struct stub *stub, int listener)
{
    int fd = accept(listener, NULL, NULL), one = 1;
    struct client *client = calloc(1, sizeof(*client));

    if (fd < 0 || !client || stub->n_clients == CLIENTS_MAX)
        abort();
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    client->fd = fd;
    stub->clients[stub->n_clients++] = client;
}

void rendezvous_stub_serve(int listener)
{
    static struct stub stub;

    for (;;) {
        struct pollfd fds[CLIENTS_MAX + 1];
        int n = stub.n_clients;
        fds[n] = (struct pollfd){.fd = listener, .events = POLLIN};
        for (int i = 0; i < n; i++)
            fds[i] = (struct pollfd){.fd = stub.clients[i]->fd, .events = POLLIN};
        poll(fds, (nfds_t)n + 1, -1);
        for (int i = n - 1; i >= 0; i--)
            if (fds[i].revents && !receive(&stub, stub.clients[i]))
                drop(&stub, i);
        if (fds[n].revents)
            admit(&stub, listener);
    }
}

int rendezvous_stub_start(struct rendezvous_stub *stub, const char *address, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t len = sizeof(at);
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, address ? address : "127.0.0.1", &at.sin_addr);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
        listen(listener, 1024) || getsockname(listener, (struct sockaddr *)&at, &len))
        return -1;
    stub->port = ntohs(at.sin_port);
    stub->pid = fork();
    if (stub->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        rendezvous_stub_serve(listener);
    }
    close(listener);
    return stub->pid < 0 ? -1 : 0;
}

void rendezvous_stub_stop(struct rendezvous_stub *stub)
{
    if (stub->pid > 0) {
        kill(stub->pid, SIGKILL);
        waitpid(stub->pid, NULL, 0);
        stub->pid = 0;
    }
}
