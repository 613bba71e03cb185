/* mesh.h - every rank connected with every other: shared memory on one host, sockets
 * between hosts; with a barrier and an all-gather of host bytes on top
 *
 * It is the control plane of any worker, and what the host backend moves its data over.
 * One thread. A call that fails has latched the reason in mesh->watch.error, and all
 * later calls fail likewise. */
#ifndef RINGBENCH_WORKER_GROUP_MESH_H
#define RINGBENCH_WORKER_GROUP_MESH_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/worker/group/join.h"
#include "agent/worker/group/endpoint.h"
#include "agent/worker/group/shm_group.h"
#include "agent/worker/group/watch.h"
#include "common/base/error.h"

struct mesh_config {
    struct join_config join;
    const char *hostid; /* NULL: this host's */
    /* Of some of the case's ranks only: what their keys begin with, and the ranks that
     * messages name, by rank of the mesh (valid as long as it). NULL: all ranks. */
    const char *scope;
    const int *names;
};

struct mesh {
    int rank, world_size;
    struct watch watch;
    struct shm_group group;     /* the ranks of this host, this one among them */
    struct endpoint *endpoints; /* by rank; own: not connected */
    struct endpoint *data;    /* what collectives go over: these, or others' (borrowed) */
    void (*progress)(void *); /* called in waits; then nobody sleeps. NULL: none */
    void *progress_arg;
    struct pollfd *fds; /* scratch: two per rank */
    int *group_of;      /* by rank: position in `group`, or -1 */
    int *ring;          /* the ranks in an order that visits each host once */
    int ring_at;        /* own position in it */
    int machine_ranks;  /* ranks on this machine, whatever their host identity */
    unsigned polls;     /* of sockets, before sleeping */
    uint64_t blocks;    /* sleeps so far */
    unsigned spared;    /* yields still to skip after a long one */
    bool is_local;      /* all ranks are on this host */
};

/* Publish ringbench/rank/R in the store, wait for everyone's, connect. Collective. */
struct mesh *mesh_create(const struct mesh_config *config, struct error *err);

/* If nothing failed, wait (at most 5 s) until all peers are done too. NULL is fine. */
void mesh_destroy(struct mesh *mesh);
/* Without waiting. */
void mesh_abort(struct mesh *mesh);

int mesh_barrier(struct mesh *mesh, struct error *err);
/* `len` bytes of each rank, by rank; all: world_size * len bytes. */
int mesh_allgather(struct mesh *mesh, const void *mine, size_t len, void *all,
                   struct error *err);

/* A transfer under way. */
struct flow {
    struct endpoint *endpoint;
    char *data;
    size_t len, done;
};

/* Move all flows to their ends, sends and receives at once. At most world_size of each;
 * those over the same endpoint stand side by side, in order. */
int mesh_exchange(struct mesh *mesh, struct flow *sends, size_t n_sends,
                  struct flow *recvs, size_t n_recvs);

/* Move what can be moved now. 1: something moved; 0: nothing; -1: failed. */
int mesh_push(struct mesh *mesh, struct flow *flow);
int mesh_pull(struct mesh *mesh, struct flow *flow);

/* Nothing moved: wait a little for `in` to become readable or `out` writable (either may
 * be NULL). */
int mesh_rest(struct mesh *mesh, struct watch_idle *idle, const struct endpoint *in,
              const struct endpoint *out);

#endif
