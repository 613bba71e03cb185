/* SPDX-License-Identifier: Apache-2.0 */
/* links.h - the host backend's data connections: shared memory to ranks of the same host,
 * sockets to other ranks
 *
 * A pair of ranks opens its sockets when an algorithm first uses the pair. The higher
 * rank connects, the lower rank accepts. Both reach the same step of the same call. Only
 * the lower rank waits for the higher rank, so there is no deadlock.
 *
 * One thread uses these functions. The first failure is latched in the tree's watch, and
 * all later calls fail with it. */
#ifndef RINGBENCH_WORKER_HOST_LINKS_H
#define RINGBENCH_WORKER_HOST_LINKS_H

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/group/endpoint.h"
#include "agent/worker/group/greeting.h"
#include "agent/worker/group/shm_group.h"
#include "agent/worker/group/tree.h"
#include "agent/worker/host/sockets.h"
#include "common/base/error.h"

/* A member's listening address. */
struct link_place {
    char address[256], port[8], interface[ATTEMPT_INTERFACE_MAX];
    unsigned char token[TOKEN_BYTES];
};

struct links {
    struct tree *tree; /* borrowed */
    struct watch *watch;
    /* this rank's number in the communicator, and the communicator's size */
    int rank, world_size;
    /* for each rank, its number in the case; NULL: the same number */
    const int *names;
    struct shm_group group;     /* the communicator's ranks of this host */
    struct endpoint *endpoints; /* one per rank; without a transport: not connected yet */
    struct link_place *places;  /* [rank] */
    struct greeting_port port;
    struct attempt_observer observer; /* receives reports of unreachable addresses */
    int64_t timeout_ms;               /* limit of an attempt to connect */
    int sockets;                      /* number of sockets to each rank on another host */
    /* descriptor per rank and socket; -1: not connected yet */
    int *fds;
    /* one per rank if there are several sockets per rank; else NULL */
    struct sockets_peer *peers;
    struct pollfd *pollfds; /* scratch: two per rank */
    /* for each rank, its position in `group`, or -1 if it is not in `group` */
    int *group_of;
    int *ring;       /* ranks in an order that visits each host once */
    int ring_at;     /* this rank's position in `ring` */
    unsigned spared; /* number of yields still to skip after a long yield */
    bool is_local;   /* all ranks are on this host */
};

/* Prepare the connections. A collective call of all ranks of the case. `sockets` is the
 * number of sockets to each rank on another host, or 0 to choose by the network
 * interface's speed. All ranks use the lowest number of any rank. */
struct links *links_create(struct tree *tree, const struct backend_env *env, int sockets,
                           struct error *err);
/* Drops unsent data. Accepts NULL. */
void links_destroy(struct links *links);

/* The transports: "shm", "tcp", "ucx", a list like "shm, tcp", or "self" without peers. A
 * new reference. */
json_t *links_describe(const struct links *links);
/* Return `ways` of docs/development/worker-contract.md: devices, each with the ranks that
 * it leads to, numbered as in the case. A new array; NULL if out of memory. */
json_t *links_ways(const struct links *links);

struct endpoint *links_open(struct links *links, int rank);

/* Return the endpoint of a rank, connecting it if needed; NULL on failure. */
static inline struct endpoint *links_to(struct links *links, int rank)
{
    return links->endpoints[rank].transport ? &links->endpoints[rank]
                                            : links_open(links, rank);
}

static inline int links_name(const struct links *links, int rank)
{
    return links->names ? links->names[rank] : rank;
}

struct flow {
    struct endpoint *endpoint;
    char *data;
    size_t len, done;
};

/* Complete all flows, sends and receives concurrently. At most world_size of each. Flows
 * over the same endpoint must be adjacent and in order. */
int links_exchange(struct links *links, struct flow *sends, size_t n_sends,
                   struct flow *recvs, size_t n_recvs);

/* Move bytes without waiting. Returns 1 if any moved, 0 if none, -1 on failure. */
int links_push(struct links *links, struct flow *flow);
int links_pull(struct links *links, struct flow *flow);

/* Call when no bytes could be moved. Waits briefly until `in` is readable or `out` is
 * writable. Either may be NULL. */
int links_rest(struct links *links, struct watch_idle *idle, const struct endpoint *in,
               const struct endpoint *out);

#endif
