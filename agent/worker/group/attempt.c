/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.c - connect to peers, and report addresses that cannot be reached */
#include "agent/worker/group/attempt.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"

#define SLICE_MS 100 /* a stop is noticed within this time */

static int resolve(const struct attempt_place *place, int type, struct addrinfo **list)
{
    struct addrinfo hints = {.ai_socktype = type};

    return getaddrinfo(place->address, place->port, &hints, list);
}

int attempt_begin(struct attempt *attempt, int rank, const struct attempt_place *place,
                  struct error *err)
{
    struct addrinfo *list;
    int status = resolve(place, SOCK_STREAM, &list);

    if (status)
        return error_set(err, ERROR_IO, "address %s: %s", place->address,
                         gai_strerror(status));
    *attempt = (struct attempt){.rank = rank, .since_ns = clock_monotonic_ns()};
    attempt->fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (attempt->fd < 0 || connect(attempt->fd, list->ai_addr, list->ai_addrlen))
        attempt->code = errno == EINPROGRESS ? ATTEMPT_UNDER_WAY : errno;
    freeaddrinfo(list);
    return 0;
}

int attempts_settle(struct attempt *attempts, int n, struct pollfd *fds, int wait_ms)
{
    int left = 0;

    for (int i = 0; i < n; i++) {
        bool is_open = attempts[i].code == ATTEMPT_UNDER_WAY;
        fds[i] = (struct pollfd){.fd = is_open ? attempts[i].fd : -1, .events = POLLOUT};
    }
    poll(fds, (nfds_t)n, wait_ms);
    for (int i = 0; i < n; i++) {
        int failure = 0;
        socklen_t len = sizeof(failure);
        if (attempts[i].code == ATTEMPT_UNDER_WAY && fds[i].revents) {
            getsockopt(attempts[i].fd, SOL_SOCKET, SO_ERROR, &failure, &len);
            attempts[i].code = failure;
        }
        left += attempts[i].code == ATTEMPT_UNDER_WAY;
    }
    return left;
}

/* ---- Reports ---- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

static bool is_same(const struct sockaddr *a, const union address *b)
{
    union {
        const struct sockaddr *any;
        const struct sockaddr_in *v4;
        const struct sockaddr_in6 *v6;
    } at = {a};

    if (!a || a->sa_family != b->any.sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return at.v4->sin_addr.s_addr == b->v4.sin_addr.s_addr;
    return a->sa_family == AF_INET6 &&
           IN6_ARE_ADDR_EQUAL(&at.v6->sin6_addr, &b->v6.sin6_addr);
}

void attempt_interface(int fd, char out[ATTEMPT_INTERFACE_MAX])
{
    union address own = {.any.sa_family = AF_UNSPEC};
    socklen_t len = sizeof(own);
    struct ifaddrs *list;

    out[0] = '\0';
    if (fd < 0 || getsockname(fd, &own.any, &len) || getifaddrs(&list))
        return;
    for (const struct ifaddrs *i = list; i && !out[0]; i = i->ifa_next)
        if (is_same(i->ifa_addr, &own))
            snprintf(out, ATTEMPT_INTERFACE_MAX, "%s", i->ifa_name);
    freeifaddrs(list);
}

static const char *interface_cached(int fd, struct attempt_found *last)
{
    union address own = {.any.sa_family = AF_UNSPEC}, known = {.room = last->own};
    socklen_t len = sizeof(own);

    if (fd < 0 || getsockname(fd, &own.any, &len))
        return "";
    if (!is_same(&own.any, &known)) {
        attempt_interface(fd, last->interface);
        last->own = own.room;
    }
    return last->interface;
}

/* connect() of a datagram socket selects the route and sends nothing. */
const char *attempt_route(const struct attempt_place *place, struct attempt_found *last)
{
    struct addrinfo *list;
    const char *name = "";

    if (resolve(place, SOCK_DGRAM, &list))
        return "";
    int fd = socket(list->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !connect(fd, list->ai_addr, list->ai_addrlen))
        name = interface_cached(fd, last);
    if (fd >= 0)
        close(fd);
    freeaddrinfo(list);
    return name;
}

void attempt_report(const struct attempt *attempt, const char *over, int rank,
                    const struct attempt_place *place,
                    const struct attempt_observer *observer)
{
    int64_t waited_ns = clock_monotonic_ns() - attempt->since_ns;
    struct attempt_found found = {.interface = ""};
    char reason[128];

    if (!observer->report)
        return;
    if (attempt->code == ATTEMPT_UNDER_WAY)
        snprintf(reason, sizeof(reason), "no answer in %lld s",
                 (long long)(waited_ns / 1000000000));
    else
        snprintf(reason, sizeof(reason), "%s", strerror(attempt->code));
    observer->report(observer->arg, over, rank, place, attempt_route(place, &found),
                     reason);
}

/* Returns 0 if connected, 1 to try again, -1 on failure. */
static int conclude(struct attempt *attempt, const struct attempt_place *place,
                    const char *over, const struct attempt_until *until,
                    struct error *err)
{
    if (attempt->code == 0)
        return 0;
    if (attempt->fd >= 0)
        close(attempt->fd);
    /* The peer's accept queue may overflow when hundreds of ranks connect at once. */
    if (attempt->code == ECONNRESET)
        return 1;
    if (attempt->code == ATTEMPT_UNDER_WAY)
        return watch_check(until->watch)
                   ? watch_reason(until->watch, err)
                   : error_set(err, ERROR_TIMEOUT,
                               "rank %d: cannot connect to %s port %s: no answer in time",
                               attempt->rank, place->address, place->port);
    attempt_report(attempt, over, attempt->rank, place, until->observer);
    return error_set_errno(err, ERROR_PEER, attempt->code,
                           "rank %d: cannot connect to %s port %s", attempt->rank,
                           place->address, place->port);
}

int attempt_connect(int rank, const struct attempt_place *place, const char *over,
                    const struct attempt_until *until, struct error *err)
{
    struct attempt attempt;
    struct pollfd pollfd;
    int status = 1;

    while (status > 0) {
        bool is_told = false;
        if (attempt_begin(&attempt, rank, place, err))
            return error_prefix(err, "rank %d", rank);
        while (attempts_settle(&attempt, 1, &pollfd, SLICE_MS) > 0 &&
               clock_monotonic_ns() < until->deadline_ns && !watch_check(until->watch)) {
            int64_t waited_ns = clock_monotonic_ns() - attempt.since_ns;
            if (!is_told && waited_ns >= ATTEMPT_SILENT_MS * INT64_C(1000000)) {
                attempt_report(&attempt, over, rank, place, until->observer);
                is_told = true;
            }
        }
        status = conclude(&attempt, place, over, until, err);
    }
    return status ? -1 : attempt.fd;
}
