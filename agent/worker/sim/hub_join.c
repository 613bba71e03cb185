/* hub_join.c - how the ranks get their connections to rank 0
 *
 * Rank 0 listens and publishes {"address","port","token"}. Each other rank connects and
 * sends the token and its rank. Whoever is connected may send its part of the first
 * operation at once; it is read when all are. */
#include "agent/worker/sim/hub_join.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/worker/link.h"
#include "agent/worker/listen.h"
#include "common/clock.h"
#include "common/json_util.h"

#define KEY "ringbench/hub"
#define RECORD_MAX 1024
#define TOKEN_BYTES 16
#define TOKEN_TEXT (2 * TOKEN_BYTES + 1)
#define SLICE_MS 200
#define GREETING_MS 2000 /* of a connection, before it is taken for a stranger's */
#define CONNECT_PAUSE_MS 100

struct greeting {
    char token[TOKEN_TEXT - 1];
    uint32_t rank; /* network order */
};

struct join {
    struct hub *hub;
    const struct hub_config *config;
    int64_t deadline_ns;
    int listener;
    char token[TOKEN_TEXT];
};

static int64_t after_ms(int64_t ms)
{
    return clock_monotonic_ns() + ms * 1000000;
}

/* Wait for events on fd. 0: there are some; 1: not by the deadline; -1: failed. */
static int await_fd(struct hub *hub, int fd, short events, int64_t deadline_ns)
{
    for (;;) {
        struct pollfd pollfd = {.fd = fd, .events = events};
        if (hub_check_stop(hub)) {
            return -1;
        }
        if (poll(&pollfd, 1, SLICE_MS) > 0) {
            return 0;
        }
        if (clock_monotonic_ns() > deadline_ns) {
            return 1;
        }
    }
}

/* events: EPOLLRDHUP alone until there is somebody who reads. */
static int watch(struct hub *hub, int rank, int how, uint32_t events, struct error *err)
{
    struct epoll_event event = {.events = events, .data.u32 = (uint32_t)rank};

    if (epoll_ctl(hub->epoll_fd, how, hub->peers[rank].fd, &event)) {
        return error_set_errno(err, ERROR_IO, errno, "watching rank %d", rank);
    }
    return 0;
}

static int adopt(struct hub *hub, int rank, int fd, struct error *err)
{
    hub->peers[rank].fd = fd;
    link_tune_socket(fd);
    return watch(hub, rank, EPOLL_CTL_ADD, EPOLLRDHUP, err);
}

/* ---- rank 0 ---- */

static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int make_token(char token[TOKEN_TEXT], struct error *err)
{
    unsigned char raw[TOKEN_BYTES];

    if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw)) {
        return error_set_errno(err, ERROR_IO, errno, "random numbers");
    }
    for (int i = 0; i < TOKEN_BYTES; i++) {
        snprintf(token + 2 * i, 3, "%02x", raw[i]);
    }
    return 0;
}

static int publish(struct join *join, struct error *err)
{
    const char *host = join->config->address;
    int port = 0;

    host = host && host[0] ? host : "127.0.0.1";
    if (make_token(join->token, err)) {
        return -1;
    }
    join->listener = listen_on(host, &port, err);
    if (join->listener < 0) {
        return -1;
    }
    json_t *record =
        json_pack("{s:s, s:i, s:s}", "address", host, "port", port, "token", join->token);
    char *text = record ? json_text(record) : NULL;
    json_decref(record);
    if (!text) {
        return error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    }
    int status = store_client_set(join->config->store, KEY, text, strlen(text), err);
    free(text);
    return status;
}

/* The rank of who greets, or -1. */
static int read_greeting(struct join *join, int fd)
{
    struct greeting greeting;
    size_t done = 0;
    int64_t deadline = after_ms(GREETING_MS);

    while (done < sizeof(greeting)) {
        ssize_t n = recv(fd, (char *)&greeting + done, sizeof(greeting) - done, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
        if (n < 0 && await_fd(join->hub, fd, POLLIN, deadline)) {
            return -1;
        }
    }
    uint32_t rank = ntohl(greeting.rank);
    if (memcmp(greeting.token, join->token, sizeof(greeting.token)) != 0 || rank == 0 ||
        rank >= (uint32_t)join->hub->world_size || join->hub->peers[rank].fd >= 0) {
        return -1;
    }
    return (int)rank;
}

static int accept_one(struct join *join, int *connected, struct error *err)
{
    int fd = accept4(join->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        return errno == EAGAIN || errno == ECONNABORTED || errno == EINTR
                   ? 0
                   : error_set_errno(err, ERROR_IO, errno, "accepting a connection");
    }
    int rank = read_greeting(join, fd);
    if (rank < 0) {
        close(fd);
        return 0;
    }
    ++*connected;
    return adopt(join->hub, rank, fd, err);
}

static int watch_all(struct hub *hub, struct error *err)
{
    for (int rank = 1; rank < hub->world_size; rank++) {
        if (watch(hub, rank, EPOLL_CTL_MOD, EPOLLIN | EPOLLRDHUP, err)) {
            return -1;
        }
    }
    return 0;
}

/* A rank that has connected is gone again. */
static int check_connected(struct hub *hub)
{
    struct epoll_event event;

    if (epoll_wait(hub->epoll_fd, &event, 1, 0) > 0) {
        return hub_lose(hub, (int)event.data.u32, 0);
    }
    return 0;
}

static int accept_all(struct join *join, struct error *err)
{
    struct hub *hub = join->hub;

    for (int connected = 1; connected < hub->world_size;) {
        struct pollfd fds[2] = {{.fd = join->listener, .events = POLLIN},
                                {.fd = hub->epoll_fd, .events = POLLIN}};
        int n = poll(fds, 2, SLICE_MS);
        if (hub_check_stop(hub) || (n > 0 && fds[1].revents && check_connected(hub))) {
            *err = hub->error;
            return -1;
        }
        if (n > 0 && fds[0].revents && accept_one(join, &connected, err)) {
            return -1;
        }
        if (clock_monotonic_ns() > join->deadline_ns) {
            return error_set(err, ERROR_TIMEOUT, "%d of %d ranks have connected",
                             connected, hub->world_size);
        }
    }
    return watch_all(hub, err);
}

/* ---- the others ---- */

static json_t *read_record(struct join *join, struct error *err)
{
    const char *keys[1] = {KEY};
    json_t *record = NULL;
    struct buf text;

    int64_t left_ms = (join->deadline_ns - clock_monotonic_ns()) / 1000000;
    if (store_client_wait(join->config->store, keys, 1, left_ms, err)) {
        error_prefix(err, "waiting for rank 0");
        return NULL;
    }
    buf_init(&text, RECORD_MAX);
    if (!store_client_get(join->config->store, KEY, &text, err)) {
        record = json_parse(text.data ? text.data : "", text.len, err);
    }
    buf_release(&text);
    return record;
}

/* One attempt; 1: refused or lost on the way, try again. */
static int try_connect(struct hub *hub, const struct addrinfo *address,
                       int64_t deadline_ns, int *failure)
{
    socklen_t len = sizeof(*failure);
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    *failure = 0;
    if (fd < 0 ||
        (connect(fd, address->ai_addr, address->ai_addrlen) && errno != EINPROGRESS)) {
        *failure = errno;
    } else if (await_fd(hub, fd, POLLOUT, deadline_ns)) {
        *failure = ETIMEDOUT;
    } else {
        getsockopt(fd, SOL_SOCKET, SO_ERROR, failure, &len);
    }
    if (!*failure) {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static int connect_to_hub(struct join *join, const json_t *record, int *out,
                          struct error *err)
{
    const char *host = json_get_str(record, "address", "");
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    char port[16];
    int failure = 0;

    snprintf(port, sizeof(port), "%d", (int)json_get_int(record, "port", 0));
    int status = getaddrinfo(host, port, &hints, &list);
    if (status) {
        return error_set(err, ERROR_IO, "rank 0: address %s: %s", host,
                         gai_strerror(status));
    }
    do {
        *out = try_connect(join->hub, list, join->deadline_ns, &failure);
        if (*out < 0 && !hub_check_stop(join->hub)) {
            poll(NULL, 0, CONNECT_PAUSE_MS);
        }
    } while (*out < 0 && failure == ECONNRESET && !hub_check_stop(join->hub));
    freeaddrinfo(list);
    if (*out >= 0) {
        return 0;
    }
    if (hub_check_stop(join->hub)) {
        *err = join->hub->error;
        return -1;
    }
    return error_set_errno(err, ERROR_PEER, failure, "rank 0: connecting to %s port %s",
                           host, port);
}

static int greet(struct join *join, struct error *err)
{
    struct hub *hub = join->hub;
    struct greeting greeting = {.rank = htonl((uint32_t)hub->rank)};
    json_t *record = read_record(join, err);
    int fd = -1;

    if (!record) {
        return -1;
    }
    const char *token = json_get_str(record, "token", "");
    int status = strlen(token) == sizeof(greeting.token)
                     ? connect_to_hub(join, record, &fd, err)
                     : error_set(err, ERROR_PEER, "rank 0: its record is malformed");
    memcpy(greeting.token, token, strnlen(token, sizeof(greeting.token)));
    json_decref(record);
    if (status) {
        return -1;
    }
    /* The first bytes of a connection always fit into its buffer. */
    if (send(fd, &greeting, sizeof(greeting), MSG_NOSIGNAL) !=
        (ssize_t)sizeof(greeting)) {
        error_set_errno(err, ERROR_PEER, errno, "rank 0: greeting");
        close(fd);
        return -1;
    }
    return adopt(hub, 0, fd, err);
}

int hub_join(struct hub *hub, const struct hub_config *config, struct error *err)
{
    struct join join = {.hub = hub,
                        .config = config,
                        .deadline_ns = after_ms(config->timeout_ms),
                        .listener = -1};

    hub->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (hub->epoll_fd < 0) {
        return error_set_errno(err, ERROR_IO, errno, "epoll");
    }
    if (hub->rank > 0) {
        return greet(&join, err);
    }
    raise_descriptor_limit();
    int status = publish(&join, err) || accept_all(&join, err) ? -1 : 0;
    if (join.listener >= 0) {
        close(join.listener);
    }
    return status;
}
