/* SPDX-License-Identifier: Apache-2.0 */
/* links.h - what a rank of the host backend moves its data over: shared memory to the
 * ranks of its host, sockets to the others
 *
 * A pair of ranks opens its sockets when an algorithm first names the other one: the
 * greater rank connects, and the lesser one accepts. Both come to the same step of the
 * same call, and nobody waits for a lesser rank, so these waits always end.
 *
 * One thread. A call that fails has latched the reason in the tree's watch, and all later
 * calls fail likewise. */
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

/* Where a member listens. */
struct link_place {
    char address[256], port[8], interface[ATTEMPT_INTERFACE_MAX];
    unsigned char token[TOKEN_BYTES];
};

struct links {
    struct tree *tree; /* borrowed */
    struct watch *watch;
    int rank, world_size;       /* of those that collectives are of */
    const int *names;           /* their ranks in the case; NULL: the same */
    struct shm_group group;     /* those of this host, this one among them */
    struct endpoint *endpoints; /* by rank; without a transport: not connected yet */
    struct link_place *places;  /* by rank */
    struct greeting_port port;
    struct attempt_ear ear;     /* of addresses that cannot be reached */
    int64_t timeout_ms;         /* of an attempt to connect */
    int sockets;                /* to each rank of another host */
    int *fds;                   /* those, by rank; -1: not connected yet */
    struct sockets_peer *peers; /* by rank, where there are several; else NULL */
    struct pollfd *pollfds;     /* scratch: two per rank */
    int *group_of;              /* by rank: position in `group`, or -1 */
    int *ring;                  /* the ranks in an order that visits each host once */
    int ring_at;                /* own position in it */
    unsigned spared;            /* yields still to skip after a long one */
    bool is_local;              /* all ranks are on this host */
};

/* Collective, over all ranks of the case. sockets: to each rank of another host, 0 by the
 * link's speed; the least number that any rank comes to. */
struct links *links_create(struct tree *tree, const struct backend_env *env, int sockets,
                           struct error *err);
/* NULL is fine. Whatever has not gone through is dropped. */
void links_destroy(struct links *links);

/* "shm", "tcp", "ucx" or several, "shm, tcp"; "self" without peers. A new reference. */
json_t *links_describe(const struct links *links);
/* `ways` of docs/development/worker-contract.md: each with the ranks that it leads to, as
 * they go by. A new array; NULL when memory is out. */
json_t *links_ways(const struct links *links);

/* Connect to a rank; NULL: failed. */
struct endpoint *links_open(struct links *links, int rank);

/* The way to a rank; NULL: failed. */
static inline struct endpoint *links_to(struct links *links, int rank)
{
    return links->endpoints[rank].transport ? &links->endpoints[rank]
                                            : links_open(links, rank);
}

/* The number that a rank goes by. */
static inline int links_name(const struct links *links, int rank)
{
    return links->names ? links->names[rank] : rank;
}

/* A transfer under way. */
struct flow {
    struct endpoint *endpoint;
    char *data;
    size_t len, done;
};

/* Move all flows to their ends, sends and receives at once. At most world_size of each;
 * those over the same endpoint stand side by side, in order. */
int links_exchange(struct links *links, struct flow *sends, size_t n_sends,
                   struct flow *recvs, size_t n_recvs);

/* Move what can be moved now. 1: something moved; 0: nothing; -1: failed. */
int links_push(struct links *links, struct flow *flow);
int links_pull(struct links *links, struct flow *flow);

/* Nothing moved: wait a little for `in` to become readable or `out` writable (either may
 * be NULL). */
int links_rest(struct links *links, struct watch_idle *idle, const struct endpoint *in,
               const struct endpoint *out);

#endif
