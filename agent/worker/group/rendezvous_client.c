/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous_client.c - a blocking TCPStore client */
#include "agent/worker/group/rendezvous_client.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"

#define MAGIC 0x3C85F7CEu
#define REQUEST_MAX (64u << 20)
#define DEFAULT_TIMEOUT_MS 30000
#define SLICE_MS 100 /* a stop is noticed within this time */
/* Time limit for connecting to one address if more addresses follow. TCP sends its SYN
 * after 0, 1 and 3 s (RFC 6298). */
#define CONNECT_MS 3000

enum query {
    QUERY_VALIDATE = 0,
    QUERY_SET = 1,
    QUERY_COMPARE_SET = 2,
    QUERY_GET = 3,
    QUERY_ADD = 4,
    QUERY_WAIT = 6,
    QUERY_CANCEL_WAIT = 12,
    QUERY_PING = 13
};

enum { REPLY_STOP_WAITING = 0, REPLY_WAIT_CANCELED = 1 };

struct rendezvous_client {
    int fd; /* -1: closed after a failure */
    const atomic_int *stop;
    int64_t timeout_ms;
    const char *secret; /* or NULL */
    struct buf request;
};

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static bool is_stopped(const struct rendezvous_client *client)
{
    return client->stop && atomic_load_explicit(client->stop, memory_order_relaxed);
}

static int await_fd(struct rendezvous_client *client, int fd, short events,
                    int64_t deadline, struct error *err)
{
    for (;;) {
        if (is_stopped(client))
            return error_set(err, ERROR_UNAVAILABLE, "stopped on request");
        int64_t left = deadline - now_ms();
        if (left <= 0)
            return error_set(err, ERROR_TIMEOUT, "store: no answer in time");
        struct pollfd pollfd = {.fd = fd, .events = events};
        int n = poll(&pollfd, 1, (int)(left < SLICE_MS ? left : SLICE_MS));
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return error_set_errno(err, ERROR_IO, errno, "store: poll");
    }
}

/* Close the connection: its stream is in an unknown state. */
static int die(struct rendezvous_client *client)
{
    if (client->fd >= 0) {
        close(client->fd);
        client->fd = -1;
    }
    return -1;
}

static int send_request(struct rendezvous_client *client, int64_t deadline,
                        struct error *err)
{
    const char *data = client->request.data;
    size_t left = client->request.len;

    if (client->fd < 0)
        return error_set(err, ERROR_PEER, "store: the connection is closed");
    while (left > 0) {
        ssize_t n = send(client->fd, data, left, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            data += n;
            left -= (size_t)n;
            continue;
        }
        if (errno == EAGAIN) {
            if (await_fd(client, client->fd, POLLOUT, deadline, err))
                return die(client);
        } else if (errno != EINTR) {
            error_set_errno(err, ERROR_PEER, errno, "store: send");
            return die(client);
        }
    }
    return 0;
}

/* Keep the connection after a failure, because a WAIT that timed out can be cancelled. */
static int receive_soft(struct rendezvous_client *client, void *out, size_t len,
                        int64_t deadline, struct error *err)
{
    char *to = out;

    while (len > 0) {
        ssize_t n = recv(client->fd, to, len, MSG_DONTWAIT);
        if (n > 0) {
            to += n;
            len -= (size_t)n;
            continue;
        }
        if (n == 0)
            return error_set(err, ERROR_PEER, "store: the server closed the connection");
        if (errno == EAGAIN) {
            if (await_fd(client, client->fd, POLLIN, deadline, err))
                return -1;
        } else if (errno != EINTR) {
            return error_set_errno(err, ERROR_PEER, errno, "store: receive");
        }
    }
    return 0;
}

static int receive(struct rendezvous_client *client, void *out, size_t len,
                   int64_t deadline, struct error *err)
{
    if (receive_soft(client, out, len, deadline, err))
        return die(client);
    return 0;
}

static void put_byte(struct rendezvous_client *client, enum query query)
{
    unsigned char byte = (unsigned char)query;
    buf_append(&client->request, &byte, 1);
}

static void put_int(struct rendezvous_client *client, uint64_t value, size_t bytes)
{
    unsigned char raw[8];
    for (size_t i = 0; i < bytes; i++)
        raw[i] = (unsigned char)(value >> (8 * i));
    buf_append(&client->request, raw, bytes);
}

static uint64_t get_int(const unsigned char *raw, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)raw[i] << (8 * i);
    return value;
}

static int put_blob(struct rendezvous_client *client, const void *data, size_t len)
{
    put_int(client, len, 8);
    return len ? buf_append(&client->request, data, len) : 0;
}

static int put_key(struct rendezvous_client *client, const char *key)
{
    const char *secret = client->secret;

    if (!secret)
        return put_blob(client, key, strlen(key));
    put_int(client, strlen(secret) + 1 + strlen(key), 8);
    return buf_append_str(&client->request, secret) ||
           buf_append_str(&client->request, "/") || buf_append_str(&client->request, key);
}

static int begin(struct rendezvous_client *client, enum query query, const char *key,
                 struct error *err)
{
    size_t len = key ? strlen(key) : 0;

    if (len > STORE_KEY_MAX) {
        return error_set(err, ERROR_LIMIT,
                         "store: the key is %zu bytes long, the limit is %d", len,
                         STORE_KEY_MAX);
    }
    buf_clear(&client->request);
    put_byte(client, query);
    if (key && put_key(client, key))
        return error_set(err, ERROR_MEMORY, "store: out of memory");
    return 0;
}

static int receive_blob(struct rendezvous_client *client, struct buf *out,
                        int64_t deadline, struct error *err)
{
    unsigned char raw[8];
    char block[4096];

    if (receive(client, raw, sizeof(raw), deadline, err))
        return -1;
    uint64_t left = get_int(raw, sizeof(raw));
    if (left > STORE_VALUE_MAX) {
        error_set(err, ERROR_PEER, "store: the value is %llu bytes long, the limit is %d",
                  (unsigned long long)left, STORE_VALUE_MAX);
        return die(client);
    }
    while (left > 0) {
        size_t part = left < sizeof(block) ? (size_t)left : sizeof(block);
        if (receive(client, block, part, deadline, err))
            return -1;
        if (buf_append(out, block, part)) {
            error_set(err, ERROR_LIMIT, "store: the value is longer than expected");
            return die(client);
        }
        left -= part;
    }
    return 0;
}

static int open_socket(struct rendezvous_client *client, const struct addrinfo *address,
                       int64_t deadline, struct error *err)
{
    int one = 1, failure = 0;
    socklen_t len = sizeof(failure);
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return error_set_errno(err, ERROR_IO, errno, "store: socket");
    if (connect(fd, address->ai_addr, address->ai_addrlen) && errno != EINPROGRESS) {
        failure = errno;
    } else if (await_fd(client, fd, POLLOUT, deadline, err)) {
        close(fd);
        return -1;
    } else {
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len);
    }
    if (failure) {
        close(fd);
        return error_set_errno(err, ERROR_IO, failure, "store: connect");
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    client->fd = fd;
    return 0;
}

static int handshake(struct rendezvous_client *client, int64_t deadline,
                     struct error *err)
{
    uint32_t nonce = (uint32_t)getpid();
    unsigned char raw[4];

    buf_clear(&client->request);
    put_byte(client, QUERY_VALIDATE);
    put_int(client, MAGIC, 4);
    put_byte(client, QUERY_PING);
    put_int(client, nonce, 4);
    if (send_request(client, deadline, err) ||
        receive(client, raw, sizeof(raw), deadline, err))
        return -1;
    if (get_int(raw, sizeof(raw)) != nonce) {
        error_set(err, ERROR_PEER,
                  "store: the server does not speak the TCPStore protocol");
        return die(client);
    }
    return 0;
}

/* Deadline for connecting to the first address of the list: an equal share of the
 * remaining time, at most CONNECT_MS. A single address gets all the time. */
static int64_t connect_deadline(const struct addrinfo *list, bool is_only,
                                int64_t deadline)
{
    int64_t now = now_ms(), share;
    int n = 0;

    if (is_only)
        return deadline;
    for (const struct addrinfo *at = list; at; at = at->ai_next)
        n++;
    share = (deadline - now) / n;
    return now + (share < CONNECT_MS ? share : CONNECT_MS);
}

/* Try all addresses: a firewall may drop packets to some of them. */
static int try_addresses(struct rendezvous_client *client, const struct addrinfo *list,
                         int64_t deadline, struct error *err)
{
    for (const struct addrinfo *at = list; at; at = at->ai_next) {
        int64_t until = connect_deadline(at, !list->ai_next, deadline);

        if (!open_socket(client, at, until, err) && !handshake(client, deadline, err))
            return 0;
    }
    return -1;
}

/* Retry until the deadline: the server may not listen yet. */
static int connect_until(struct rendezvous_client *client, const struct addrinfo *list,
                         int64_t deadline, struct error *err)
{
    int pause_ms = 20;

    while (try_addresses(client, list, deadline, err)) {
        if (is_stopped(client) || now_ms() + pause_ms >= deadline)
            return -1;
        poll(NULL, 0, pause_ms);
        pause_ms = pause_ms < 500 ? pause_ms * 2 : pause_ms;
    }
    return 0;
}

struct rendezvous_client *rendezvous_client_connect(const char *host, const char *port,
                                                    int64_t timeout_ms,
                                                    const atomic_int *stop,
                                                    struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    struct rendezvous_client *client = memory_zeroed(1, sizeof(*client), "store");

    client->fd = -1;
    client->stop = stop;
    client->timeout_ms = DEFAULT_TIMEOUT_MS;
    buf_init(&client->request, REQUEST_MAX);
    int status = getaddrinfo(host, port, &hints, &list);
    if (status) {
        error_set(err, ERROR_IO, "store: address %s port %s: %s", host, port,
                  gai_strerror(status));
        goto fail;
    }
    if (connect_until(client, list, now_ms() + timeout_ms, err)) {
        error_prefix(err, "%s port %s", host, port);
        goto fail;
    }
    freeaddrinfo(list);
    return client;
fail:
    if (list)
        freeaddrinfo(list);
    rendezvous_client_destroy(client);
    return NULL;
}

void rendezvous_client_destroy(struct rendezvous_client *client)
{
    if (!client)
        return;
    die(client);
    buf_release(&client->request);
    free(client);
}

void rendezvous_client_set_secret(struct rendezvous_client *client, const char *secret)
{
    client->secret = secret;
}

void rendezvous_client_set_timeout(struct rendezvous_client *client, int64_t timeout_ms)
{
    client->timeout_ms = timeout_ms;
}

void rendezvous_client_ignore_stop(struct rendezvous_client *client)
{
    client->stop = NULL;
}

int rendezvous_client_set(struct rendezvous_client *client, const char *key,
                          const void *value, size_t len, struct error *err)
{
    if (len > STORE_VALUE_MAX) {
        return error_set(err, ERROR_LIMIT,
                         "store: the value is %zu bytes long, the limit is %d", len,
                         STORE_VALUE_MAX);
    }
    if (begin(client, QUERY_SET, key, err))
        return -1;
    if (put_blob(client, value, len))
        return error_set(err, ERROR_MEMORY, "store: out of memory");
    return send_request(client, now_ms() + client->timeout_ms, err);
}

int rendezvous_client_get(struct rendezvous_client *client, const char *key,
                          struct buf *out, struct error *err)
{
    int64_t deadline = now_ms() + client->timeout_ms;

    if (begin(client, QUERY_GET, key, err) || send_request(client, deadline, err))
        return -1;
    return receive_blob(client, out, deadline, err);
}

int rendezvous_client_add(struct rendezvous_client *client, const char *key,
                          int64_t delta, int64_t *value, struct error *err)
{
    int64_t deadline = now_ms() + client->timeout_ms;
    unsigned char raw[8];

    if (begin(client, QUERY_ADD, key, err))
        return -1;
    put_int(client, (uint64_t)delta, 8);
    if (send_request(client, deadline, err) ||
        receive(client, raw, sizeof(raw), deadline, err))
        return -1;
    *value = (int64_t)get_int(raw, sizeof(raw));
    return 0;
}

int rendezvous_client_compare_set(struct rendezvous_client *client, const char *key,
                                  const char *expected, const char *desired,
                                  struct buf *out, struct error *err)
{
    int64_t deadline = now_ms() + client->timeout_ms;

    if (begin(client, QUERY_COMPARE_SET, key, err))
        return -1;
    if (put_blob(client, expected, strlen(expected)) ||
        put_blob(client, desired, strlen(desired)))
        return error_set(err, ERROR_MEMORY, "store: out of memory");
    if (send_request(client, deadline, err))
        return -1;
    return receive_blob(client, out, deadline, err);
}

static int begin_wait(struct rendezvous_client *client, const char *const *keys, size_t n,
                      struct error *err)
{
    begin(client, QUERY_WAIT, NULL, NULL);
    put_int(client, n, 8);
    for (size_t i = 0; i < n; i++)
        if (put_key(client, keys[i]))
            return error_set(err, ERROR_LIMIT, "store: too many keys at once");
    return 0;
}

/* Read until the answer "cancelled". If the server had already sent "stop waiting", that
 * answer comes first. */
static int cancel_wait(struct rendezvous_client *client, struct error *err)
{
    int64_t deadline = now_ms() + client->timeout_ms;
    unsigned char reply;

    begin(client, QUERY_CANCEL_WAIT, NULL, NULL);
    if (send_request(client, deadline, err))
        return -1;
    do {
        if (receive(client, &reply, 1, deadline, err))
            return -1;
    } while (reply != REPLY_WAIT_CANCELED);
    return 0;
}

int rendezvous_client_wait(struct rendezvous_client *client, const char *const *keys,
                           size_t n, int64_t timeout_ms, struct error *err)
{
    int64_t deadline = now_ms() + timeout_ms;
    struct error why = {0};
    unsigned char reply;

    if (begin_wait(client, keys, n, err) || send_request(client, deadline, err))
        return -1;
    if (!receive_soft(client, &reply, 1, deadline, &why))
        return 0;
    if (why.code == ERROR_TIMEOUT && cancel_wait(client, err))
        return -1;
    if (why.code != ERROR_TIMEOUT)
        die(client);
    return error_set(err, why.code, "%s", why.text);
}
