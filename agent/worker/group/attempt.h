/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.h - connections under way, and what is told of one that does not come about
 *
 * Nothing here waits longer than it is told to. One thread. */
#ifndef RINGBENCH_WORKER_GROUP_ATTEMPT_H
#define RINGBENCH_WORKER_GROUP_ATTEMPT_H

#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>

#include "agent/worker/group/watch.h"
#include "common/base/error.h"

#define ATTEMPT_INTERFACE_MAX 32
/* Two of TCP's own tries are lost by then (1 s and 3 s: RFC 6298): chance loses one. */
#define ATTEMPT_SILENT_MS 3000

enum { ATTEMPT_UNDER_WAY = -1 };

struct attempt {
    int rank, fd;
    int code; /* ATTEMPT_UNDER_WAY, 0: connected, or an errno */
    int64_t since_ns;
};

/* Where somebody listens. Borrowed. */
struct attempt_place {
    const char *address, *port;
    const char *interface; /* that has the address; "": not known */
};

/* Who hears of ways that connections do not go; hear NULL: nobody. */
struct attempt_ear {
    /* over: what the address is for ("ranks", "nccl"); rank: the peer, as it goes by;
     * via: the own interface that leads there, "": not known. */
    void (*hear)(void *arg, const char *over, int rank, const struct attempt_place *place,
                 const char *via, const char *reason);
    void *arg;
};

/* Begin to connect; the descriptor in *attempt is the caller's. -1: the address cannot be
 * resolved. */
int attempt_begin(struct attempt *attempt, int rank, const struct attempt_place *place,
                  struct error *err);

/* Wait at most so long for one of n; fds: room for as many. How many are still under
 * way. */
int attempts_settle(struct attempt *attempts, int n, struct pollfd *fds, int wait_ms);

/* Until when an attempt goes on, and who hears of it if it fails. */
struct attempt_until {
    struct watch *watch;
    int64_t deadline_ns;
    const struct attempt_ear *ear;
};

/* Connect to a rank: a descriptor, or -1. What is silent is told after ATTEMPT_SILENT_MS,
 * and waited for until the deadline. */
int attempt_connect(int rank, const struct attempt_place *place, const char *over,
                    const struct attempt_until *until, struct error *err);

/* Tell of one that failed, or has no answer yet. */
void attempt_tell(const struct attempt *attempt, const char *over, int name,
                  const struct attempt_place *place, const struct attempt_ear *ear);

/* The interface of a bound socket's own address; "": not known. */
void attempt_interface(int fd, char out[ATTEMPT_INTERFACE_MAX]);

/* An address, and what was found for it; zeroed before the first. */
struct attempt_found {
    struct sockaddr_storage own;
    char interface[ATTEMPT_INTERFACE_MAX];
};

/* The own interface that leads to a place; "": not known. Of many places, most of which
 * are reached from one address: it is looked for once. */
const char *attempt_route(const struct attempt_place *place, struct attempt_found *last);

#endif
