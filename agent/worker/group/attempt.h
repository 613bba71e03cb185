/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.h - connect to peers, and report addresses that cannot be reached
 *
 * The caller limits all waits. All calls come from one thread. */
#ifndef RINGBENCH_WORKER_GROUP_ATTEMPT_H
#define RINGBENCH_WORKER_GROUP_ATTEMPT_H

#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>

#include "agent/worker/group/watch.h"
#include "common/base/error.h"

#define ATTEMPT_INTERFACE_MAX 32
/* Long enough for TCP to resend a lost SYN twice (after 1 s and 3 s, RFC 6298). */
#define ATTEMPT_SILENT_MS 3000

enum { ATTEMPT_UNDER_WAY = -1 };

struct attempt {
    int rank, fd;
    int code; /* ATTEMPT_UNDER_WAY, 0: connected, or an errno */
    int64_t since_ns;
};

/* The address of a listening peer. Members are borrowed. */
struct attempt_place {
    const char *address, *port;
    const char *interface; /* the peer's interface with that address; "": not known */
};

/* Receives reports of unreachable addresses; `report` may be NULL. */
struct attempt_observer {
    /* over: the use of the address ("ranks", "nccl"). rank: the peer. via: this host's
     * interface on the route to it, "" if not known. */
    void (*report)(void *arg, const char *over, int rank,
                   const struct attempt_place *place, const char *via,
                   const char *reason);
    void *arg;
};

/* Begin to connect. The caller owns the descriptor in *attempt. Return -1 if the address
 * cannot be resolved. */
int attempt_begin(struct attempt *attempt, int rank, const struct attempt_place *place,
                  struct error *err);

/* Wait up to wait_ms for any of n attempts. fds: scratch space for n. Returns how many
 * attempts are still in progress. */
int attempts_settle(struct attempt *attempts, int n, struct pollfd *fds, int wait_ms);

/* Limits of an attempt, and the observer of its failure. */
struct attempt_until {
    struct watch *watch;
    int64_t deadline_ns;
    const struct attempt_observer *observer;
};

/* Connect to a rank. Returns a descriptor, or -1. A silent address is reported after
 * ATTEMPT_SILENT_MS, but the attempt continues until the deadline. */
int attempt_connect(int rank, const struct attempt_place *place, const char *over,
                    const struct attempt_until *until, struct error *err);

/* `rank` is the peer's number in the report. */
void attempt_report(const struct attempt *attempt, const char *over, int rank,
                    const struct attempt_place *place,
                    const struct attempt_observer *observer);

/* The interface of a bound socket's local address; "": not known. */
void attempt_interface(int fd, char out[ATTEMPT_INTERFACE_MAX]);

/* A cache of attempt_route(); zero it before the first call. */
struct attempt_found {
    struct sockaddr_storage own;
    char interface[ATTEMPT_INTERFACE_MAX];
};

/* This host's interface on the route to a place; "": not known. *last caches the result,
 * because most places share a local address. */
const char *attempt_route(const struct attempt_place *place, struct attempt_found *last);

#endif
