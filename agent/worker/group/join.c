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
#define LATE_AWAITED_MAX 8 /* with more, no further one is waited for by itself */
#define SLICE_MS 100       /* how late a stop may be noticed */
#define LINGER_MS 10000    /* of a rank that cannot reach another */

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
    for (int i = 0; i < join->n_late; i++)
        close(join->late[i].fd);
    free(join->late);
    free(join->late_places);
    free(join->late_fds);
    join->late = NULL;
    join->late_places = NULL;
    join->late_fds = NULL;
    join->n_late = 0;
}

static int64_t left_ms(const struct join *join)
{
    int64_t left = (join->deadline_ns - clock_monotonic_ns()) / 1000000;

    return left > 0 ? left : 0;
}

/* ---- Records ---- */

int join_publish(struct join *join, const char *key,
                 const unsigned char token[DOOR_TOKEN_BYTES], json_t *more,
                 struct error *err)
{
    const char *host = join->config->address;
    char port[8], token_text[DOOR_TOKEN_TEXT], *text = NULL;
    char interface[ATTEMPT_INTERFACE_MAX];
    int number;

    host = host && host[0] ? host : "127.0.0.1";
    raise_descriptor_limit(); /* who lets others in may hold all of them */
    if (door_open(&join->door, host, token, &number, err)) {
        json_decref(more);
        return -1;
    }
    snprintf(port, sizeof(port), "%d", number);
    door_format_token(token, token_text);
    attempt_interface(join->door.listener, interface);
    json_t *record = json_pack("{s:s, s:s, s:s, s:s}", "address", host, "port", port,
                               "interface", interface, "token", token_text);
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
    snprintf(place->interface, sizeof(place->interface), "%s",
             json_get_str(record, "interface", ""));
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

static struct attempt_place place_of(const struct join_place *place)
{
    return (struct attempt_place){place->address, place->port, place->interface};
}

static int make_room(struct join *join, struct error *err)
{
    size_t n = (size_t)join->config->world_size;

    if (!join->late)
        join->late = calloc(n, sizeof(*join->late));
    if (!join->late_places)
        join->late_places = calloc(n, sizeof(*join->late_places));
    if (!join->late_fds)
        join->late_fds = calloc(n, sizeof(*join->late_fds));
    return join->late && join->late_places && join->late_fds
               ? 0
               : error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
}

static int keep_late(struct join *join, const struct attempt *attempt,
                     const struct join_place *place, struct error *err)
{
    if (make_room(join, err)) {
        close(attempt->fd);
        return -1;
    }
    assert(join->n_late < join->config->world_size);
    join->late[join->n_late] = *attempt;
    join->late_places[join->n_late++] = *place;
    return 0;
}

static void tell(const struct join *join, const struct attempt *attempt,
                 const struct join_place *place)
{
    struct attempt_place at = place_of(place);

    attempt_tell(attempt, "mesh", watch_name(join->watch, attempt->rank), &at,
                 &join->config->ear);
}

/* Others may be unreachable too, and this rank is to be found while they are tried. */
static int refuse_way(struct join *join, const struct attempt *attempt,
                      const struct join_place *place, struct error *err)
{
    int64_t until_ns = clock_monotonic_ns() + LINGER_MS * INT64_C(1000000);

    tell(join, attempt, place);
    if (join->failure.code == ERROR_NONE) {
        error_set_errno(&join->failure, ERROR_PEER, attempt->code,
                        "rank %d: connecting to %s port %s",
                        watch_name(join->watch, attempt->rank), place->address,
                        place->port);
        if (until_ns < join->deadline_ns)
            join->deadline_ns = until_ns;
    }
    if (join->config->ear.hear)
        return 0;
    if (err)
        *err = join->failure;
    return -1;
}

/* What came of an attempt, which is kept if nothing has. */
static int take(struct join *join, const struct attempt *attempt,
                const struct join_place *place, struct error *err)
{
    /* Where hundreds come at once, a connection may be lost in the crowd. */
    if (attempt->code == ATTEMPT_UNDER_WAY || attempt->code == ECONNRESET)
        return keep_late(join, attempt, place, err);
    if (!attempt->code && !door_greet(attempt->fd, place->token, join->config->rank, err))
        return adopt(join, attempt->rank, attempt->fd, err);
    if (attempt->fd >= 0)
        close(attempt->fd);
    return attempt->code
               ? refuse_way(join, attempt, place, err)
               : error_prefix(err, "rank %d", watch_name(join->watch, attempt->rank));
}

/* Of those that have been silent for long; a moment of silence says nothing. */
static void tell_late(const struct join *join)
{
    int64_t now_ns = clock_monotonic_ns();

    for (int i = 0; i < join->n_late; i++)
        if (now_ns - join->late[i].since_ns >= ATTEMPT_SILENT_MS * INT64_C(1000000))
            tell(join, &join->late[i], &join->late_places[i]);
}

int join_connect(struct join *join, int rank, const struct join_place *place,
                 struct error *err)
{
    struct attempt_place at = place_of(place);
    struct attempt attempt;
    struct pollfd fd;

    if (attempt_begin(&attempt, rank, &at, err))
        return error_prefix(err, "rank %d", watch_name(join->watch, rank));
    attempts_settle(&attempt, 1, &fd, join->n_late < LATE_AWAITED_MAX ? SLICE_MS : 0);
    if (take(join, &attempt, place, err))
        return -1;
    if (join->n_late == 0 || !watch_check(join->watch))
        return 0;
    tell_late(join);
    return watch_reason(join->watch, err);
}

static int begin_again(struct attempt *attempt, const struct join_place *place,
                       struct error *err)
{
    struct attempt_place at = place_of(place);

    close(attempt->fd);
    attempt->fd = -1;
    return attempt_begin(attempt, attempt->rank, &at, err);
}

/* Take those that have an answer by now. */
static int look_at_late(struct join *join, int wait_ms, struct error *err)
{
    int n = join->n_late, status = 0;

    if (n == 0)
        return 0;
    attempts_settle(join->late, n, join->late_fds, wait_ms);
    join->n_late = 0;
    for (int i = 0; i < n; i++) {
        struct attempt attempt = join->late[i];
        struct join_place place = join->late_places[i];

        if (!status && attempt.code == ECONNRESET)
            status = begin_again(&attempt, &place, err);
        if (!status)
            status = take(join, &attempt, &place, err);
        else if (attempt.fd >= 0)
            close(attempt.fd);
    }
    return status;
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

/* Why time is up. */
static int name_missing(const struct join *join, int awaited, struct error *err)
{
    char more[32] = "";
    int first, missing = count_awaited(join, &first);

    if (join->failure.code != ERROR_NONE) {
        if (err)
            *err = join->failure;
        return -1;
    }
    if (join->n_late > 0) {
        return error_set(err, ERROR_TIMEOUT,
                         "rank %d: connecting to %s port %s: no answer in time",
                         watch_name(join->watch, join->late[0].rank),
                         join->late_places[0].address, join->late_places[0].port);
    }
    if (missing > 1)
        snprintf(more, sizeof(more), " and %d more", missing - 1);
    return error_set(err, ERROR_TIMEOUT,
                     "%d of %d ranks have connected in time; missing rank %d%s",
                     awaited - missing, awaited, watch_name(join->watch, first), more);
}

/* One turn of waiting; *left: ranks that are awaited. */
static int wait_a_little(struct join *join, int awaited, int *left, struct error *err)
{
    bool has_door = join->door.guests != NULL;
    int status;

    if (watch_check(join->watch))
        return watch_reason(join->watch, err);
    if (left_ms(join) == 0)
        return name_missing(join, awaited, err);
    if (look_at_late(join, has_door ? 0 : SLICE_MS, err))
        return -1;
    if (!has_door || (*left == 0 && join->n_late == 0 && !join->failure.code))
        return 0;
    status = admit_one(join, err);
    *left -= status > 0;
    return status < 0 ? -1 : 0;
}

int join_admit(struct join *join, struct error *err)
{
    int first, awaited = count_awaited(join, &first), left = awaited;

    while (left > 0 || join->n_late > 0 || join->failure.code != ERROR_NONE) {
        if (wait_a_little(join, awaited, &left, err)) {
            tell_late(join);
            return -1;
        }
    }
    return 0;
}
