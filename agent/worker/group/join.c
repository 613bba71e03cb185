/* join.c - how ranks of a case find and connect to each other */
#include "agent/worker/group/join.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/worker/group/endpoint.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"

#define RECORD_MAX 4096
#define SLICE_MS 100 /* how late a stop may be noticed */
#define CONNECT_PAUSE_MS 100

/* As many descriptors as the system lets us have: one connection per rank. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void join_begin(struct join *join, const struct join_config *config, struct watch *watch,
                int *fds)
{
    *join = (struct join){.config = config, .watch = watch, .fds = fds};
    join->deadline_ns = clock_monotonic_ns() + config->timeout_ms * 1000000;
    for (int rank = 0; rank < config->world_size; rank++)
        fds[rank] = JOIN_NOBODY;
}

void join_end(struct join *join)
{
    door_close(&join->door);
}

static int64_t left_ms(const struct join *join)
{
    int64_t left = (join->deadline_ns - clock_monotonic_ns()) / 1000000;

    return left > 0 ? left : 0;
}

/* -1: there is nothing more to wait for. */
static int check(const struct join *join, struct error *err)
{
    if (watch_check(join->watch))
        return watch_reason(join->watch, err);
    return left_ms(join) > 0 ? 0 : error_set(err, ERROR_TIMEOUT, "no connection in time");
}

/* ---- Records ---- */

int join_publish(struct join *join, const char *key,
                 const unsigned char token[DOOR_TOKEN_BYTES], json_t *more,
                 struct error *err)
{
    const char *host = join->config->address;
    char port[8], token_text[DOOR_TOKEN_TEXT], *text = NULL;
    int number;

    host = host && host[0] ? host : "127.0.0.1";
    raise_descriptor_limit(); /* who lets others in may hold all of them */
    if (door_open(&join->door, host, token, &number, err)) {
        json_decref(more);
        return -1;
    }
    snprintf(port, sizeof(port), "%d", number);
    door_format_token(token, token_text);
    json_t *record =
        json_pack("{s:s, s:s, s:s}", "address", host, "port", port, "token", token_text);
    if (record && (!more || !json_object_update(record, more)))
        text = json_text(record);
    json_decref(record);
    json_decref(more);
    if (!text)
        return error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    int status = rendezvous_client_set(join->config->store, key, text, strlen(text), err);
    free(text);
    return status;
}

int join_copy_text(const json_t *record, const char *key, char *out, size_t size)
{
    const char *text = json_get_str(record, key, "");
    int len = snprintf(out, size, "%s", text);

    return text[0] && (size_t)len < size ? 0 : -1;
}

static int parse_place(const json_t *record, struct join_place *place)
{
    return join_copy_text(record, "address", place->address, sizeof(place->address)) ||
                   join_copy_text(record, "port", place->port, sizeof(place->port)) ||
                   door_parse_token(json_get_str(record, "token", ""), place->token)
               ? -1
               : 0;
}

int join_refuse_record(const struct join *join, int rank, struct error *err)
{
    return error_set(err, ERROR_PEER, "rank %d: its record in the store is malformed",
                     watch_name(join->watch, rank));
}

json_t *join_read(struct join *join, const char *key, int rank, struct join_place *place,
                  struct error *err)
{
    const char *keys[1] = {key};
    json_t *record = NULL;
    struct buf text;

    if (rendezvous_client_wait(join->config->store, keys, 1, left_ms(join), err)) {
        error_prefix(err, "waiting for rank %d", watch_name(join->watch, rank));
        return NULL;
    }
    buf_init(&text, RECORD_MAX);
    int status = rendezvous_client_get(join->config->store, key, &text, err);
    if (!status)
        record = json_parse(text.data ? text.data : "", text.len, err);
    buf_release(&text);
    if (!record) {
        error_prefix(err, "rank %d", watch_name(join->watch, rank));
    } else if (parse_place(record, place)) {
        join_refuse_record(join, rank, err);
        json_decref(record);
        record = NULL;
    }
    return record;
}

/* ---- Connecting ---- */

static int adopt(struct join *join, int rank, int fd, struct error *err)
{
    assert(join->fds[rank] < 0 && rank != join->config->rank);
    endpoint_tune_socket(fd);
    join->fds[rank] = fd;
    return watch_add_socket(join->watch, rank, fd, err);
}

static int await_connection(struct join *join, int fd, struct error *err)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLOUT};

    while (poll(&pollfd, 1, SLICE_MS) <= 0)
        if (check(join, err))
            return -1;
    return 0;
}

/* 0: *out is connected; an errno: it is not; -1: nor will it be. */
static int try_connect(struct join *join, const struct addrinfo *address, int *out,
                       struct error *err)
{
    int failure = 0;
    socklen_t len = sizeof(failure);
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return errno;
    if (connect(fd, address->ai_addr, address->ai_addrlen) && errno != EINPROGRESS)
        failure = errno;
    else if (await_connection(join, fd, err))
        failure = -1;
    else
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len);
    if (failure) {
        close(fd);
        return failure;
    }
    *out = fd;
    return 0;
}

static int open_connection(struct join *join, const struct join_place *place, int *fd,
                           struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    int status = getaddrinfo(place->address, place->port, &hints, &list);

    if (status)
        return error_set(err, ERROR_IO, "address %s: %s", place->address,
                         gai_strerror(status));
    /* Where hundreds come at once, a connection may be lost in the crowd. */
    while ((status = try_connect(join, list, fd, err)) == ECONNRESET) {
        poll(NULL, 0, CONNECT_PAUSE_MS);
        if (check(join, err)) {
            status = -1;
            break;
        }
    }
    freeaddrinfo(list);
    return status <= 0
               ? status
               : error_set_errno(err, ERROR_PEER, status, "connecting to %s port %s",
                                 place->address, place->port);
}

int join_connect(struct join *join, int rank, const struct join_place *place,
                 struct error *err)
{
    int fd = -1;
    int status = open_connection(join, place, &fd, err);

    if (!status && door_greet(fd, place->token, join->config->rank, err)) {
        close(fd);
        status = -1;
    }
    return status ? error_prefix(err, "rank %d", watch_name(join->watch, rank))
                  : adopt(join, rank, fd, err);
}

/* ---- Letting in ---- */

/* 1: one more is connected; 0: nobody yet. */
static int admit_one(struct join *join, struct error *err)
{
    uint32_t rank;
    int fd;
    int status =
        door_admit(&join->door, SLICE_MS, join->watch->epoll_fd, &rank, &fd, err);

    if (status <= 0)
        return status;
    if (rank >= (uint32_t)join->config->world_size || join->fds[rank] != JOIN_AWAITED) {
        door_refuse(&join->door, fd);
        return 0;
    }
    return adopt(join, (int)rank, fd, err) ? -1 : 1;
}

/* How many ranks are awaited; *first: which one. */
static int count_awaited(const struct join *join, int *first)
{
    int n = 0;

    *first = -1;
    for (int rank = join->config->world_size - 1; rank >= 0; rank--) {
        if (join->fds[rank] == JOIN_AWAITED) {
            *first = rank;
            n++;
        }
    }
    return n;
}

static int name_missing(const struct join *join, int awaited, struct error *err)
{
    char more[32] = "";
    int first, missing = count_awaited(join, &first);

    if (missing > 1)
        snprintf(more, sizeof(more), " and %d more", missing - 1);
    return error_set(err, ERROR_TIMEOUT,
                     "%d of %d ranks have connected in time; missing rank %d%s",
                     awaited - missing, awaited, watch_name(join->watch, first), more);
}

int join_admit(struct join *join, struct error *err)
{
    int first, awaited = count_awaited(join, &first);

    for (int left = awaited; left > 0;) {
        if (watch_check(join->watch))
            return watch_reason(join->watch, err);
        if (left_ms(join) == 0)
            return name_missing(join, awaited, err);
        int status = admit_one(join, err);
        if (status < 0)
            return -1;
        left -= status;
    }
    return 0;
}
