/* hub_join.c - how the ranks get their connections to rank 0
 *
 * Rank 0 listens and publishes {"address","port","token"}. Each other rank connects and
 * greets (door.h). Whoever is connected may send its part of the first operation at once;
 * it is read when all are. */
#include "agent/worker/sim/hub_join.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/worker/group/door.h"
#include "agent/worker/group/link.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"

#define KEY "ringbench/hub"
#define RECORD_MAX 1024
#define SLICE_MS 200
#define CONNECT_PAUSE_MS 100

struct join {
    struct hub *hub;
    const struct hub_config *config;
    int64_t deadline_ns;
    struct door door;
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
        if (hub_check_stop(hub))
            return -1;
        if (poll(&pollfd, 1, SLICE_MS) > 0)
            return 0;
        if (clock_monotonic_ns() > deadline_ns)
            return 1;
    }
}

/* events: EPOLLRDHUP alone until there is somebody who reads. */
static int watch(struct hub *hub, int rank, int how, uint32_t events, struct error *err)
{
    struct epoll_event event = {.events = events, .data.u32 = (uint32_t)rank};

    if (epoll_ctl(hub->epoll_fd, how, hub->peers[rank].fd, &event))
        return error_set_errno(err, ERROR_IO, errno, "watching rank %d", rank);
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

static int publish(struct join *join, struct error *err)
{
    const char *host = join->config->address;
    unsigned char token[DOOR_TOKEN_BYTES];
    char text_token[DOOR_TOKEN_TEXT];
    int port = 0;

    host = host && host[0] ? host : "127.0.0.1";
    if (getrandom(token, sizeof(token), 0) != (ssize_t)sizeof(token))
        return error_set_errno(err, ERROR_IO, errno, "random numbers");
    if (door_open(&join->door, host, token, &port, err))
        return -1;
    door_format_token(token, text_token);
    json_t *record =
        json_pack("{s:s, s:i, s:s}", "address", host, "port", port, "token", text_token);
    char *text = record ? json_text(record) : NULL;
    json_decref(record);
    if (!text)
        return error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    int status = store_client_set(join->config->store, KEY, text, strlen(text), err);
    free(text);
    return status;
}

static int admit_one(struct join *join, int *connected, struct error *err)
{
    struct hub *hub = join->hub;
    uint32_t rank;
    int fd, status = door_admit(&join->door, SLICE_MS, hub->epoll_fd, &rank, &fd, err);

    if (status <= 0)
        return status;
    if (rank == 0 || rank >= (uint32_t)hub->world_size || hub->peers[rank].fd >= 0) {
        door_refuse(&join->door, fd);
        return 0;
    }
    ++*connected;
    return adopt(hub, (int)rank, fd, err);
}

static int watch_all(struct hub *hub, struct error *err)
{
    for (int rank = 1; rank < hub->world_size; rank++)
        if (watch(hub, rank, EPOLL_CTL_MOD, EPOLLIN | EPOLLRDHUP, err))
            return -1;
    return 0;
}

/* A rank that has connected is gone again. */
static int check_connected(struct hub *hub)
{
    struct epoll_event event;

    if (epoll_wait(hub->epoll_fd, &event, 1, 0) > 0)
        return hub_lose(hub, (int)event.data.u32, 0);
    return 0;
}

static int accept_all(struct join *join, struct error *err)
{
    struct hub *hub = join->hub;

    for (int connected = 1; connected < hub->world_size;) {
        if (admit_one(join, &connected, err))
            return -1;
        if (hub_check_stop(hub) || check_connected(hub)) {
            *err = hub->error;
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
    if (!store_client_get(join->config->store, KEY, &text, err))
        record = json_parse(text.data ? text.data : "", text.len, err);
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
        (connect(fd, address->ai_addr, address->ai_addrlen) && errno != EINPROGRESS))
        *failure = errno;
    else if (await_fd(hub, fd, POLLOUT, deadline_ns))
        *failure = ETIMEDOUT;
    else
        getsockopt(fd, SOL_SOCKET, SO_ERROR, failure, &len);
    if (!*failure)
        return fd;
    if (fd >= 0)
        close(fd);
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
        if (*out < 0 && !hub_check_stop(join->hub))
            poll(NULL, 0, CONNECT_PAUSE_MS);
    } while (*out < 0 && failure == ECONNRESET && !hub_check_stop(join->hub));
    freeaddrinfo(list);
    if (*out >= 0)
        return 0;
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
    unsigned char token[DOOR_TOKEN_BYTES];
    json_t *record = read_record(join, err);
    int fd = -1;

    if (!record)
        return -1;
    int status = door_parse_token(json_get_str(record, "token", ""), token)
                     ? error_set(err, ERROR_PEER, "rank 0: its record is malformed")
                     : connect_to_hub(join, record, &fd, err);
    json_decref(record);
    if (status)
        return -1;
    if (door_greet(fd, token, hub->rank, err)) {
        error_prefix(err, "rank 0");
        close(fd);
        return -1;
    }
    return adopt(hub, 0, fd, err);
}

int hub_join(struct hub *hub, const struct hub_config *config, struct error *err)
{
    struct join join = {
        .hub = hub, .config = config, .deadline_ns = after_ms(config->timeout_ms)};

    hub->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (hub->epoll_fd < 0)
        return error_set_errno(err, ERROR_IO, errno, "epoll");
    if (hub->rank > 0)
        return greet(&join, err);
    raise_descriptor_limit();
    int status = publish(&join, err) || accept_all(&join, err) ? -1 : 0;
    door_close(&join.door);
    return status;
}
