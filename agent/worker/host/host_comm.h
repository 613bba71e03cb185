/* SPDX-License-Identifier: Apache-2.0 */
/* host_comm.h - a communicator over host memory (inside the host backend) */
#ifndef RINGBENCH_WORKER_HOST_HOST_COMM_H
#define RINGBENCH_WORKER_HOST_HOST_COMM_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/host/links.h"
#include "agent/worker/host/reduce.h"

#define HOST_BLOCK_BYTES 16384  /* reduced at a time: stays in the first level cache */
#define HOST_SLICE_BYTES 131072 /* forwarded, or reduced, at a time between hosts */
#define HOST_PIECE_BYTES                                                                 \
    524288 /* of an all-reduce at a time, per rank; more for many sockets */
#define HOST_SMALL_BYTES 65536 /* up to here the number of steps counts, not bytes */
_Static_assert(HOST_SMALL_BYTES <= HOST_SLICE_BYTES, "a small message fits a slice");

struct backend_comm {
    struct tree *tree;   /* the environment's */
    struct links *links; /* those that collectives are of */
    struct ucx *ucx;     /* what they go over between hosts; NULL: sockets */
    const struct reduce_kernels *kernels;
    char *block;          /* HOST_BLOCK_BYTES */
    char *scratch;        /* 3 * HOST_SLICE_BYTES */
    const char **sources; /* by group member */
    char **targets;
    struct flow *flows;  /* 2 * world size */
    size_t small_bytes;  /* up to here messages are copied to slots */
    size_t stream_bytes; /* from here on results go past the caches */
};

/* All ranks on this host: straight from the peers' memory. */
int shm_run(struct backend_comm *comm, const struct backend_call *call);

/* Any placement: over endpoints. */
int net_run(struct backend_comm *comm, const struct backend_call *call);

/* mulsum: the input of `rank` as it is added, i.e. times its scalar; out may be in. */
void host_scale(const struct backend_comm *comm, enum dtype type, int rank, void *out,
                const void *in, size_t count);

/* Bytes that a rank sends in the call. */
size_t host_send_bytes(const struct backend_comm *comm, const struct backend_call *call);

extern const struct backend backend_host;

#endif
