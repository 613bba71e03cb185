/* SPDX-License-Identifier: Apache-2.0 */
/* host_comm.h - the communicator of the host backend (internal to the backend) */
#ifndef RINGBENCH_WORKER_HOST_HOST_COMM_H
#define RINGBENCH_WORKER_HOST_HOST_COMM_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/host/links.h"
#include "agent/worker/host/reduce.h"

#define HOST_BLOCK_BYTES 16384  /* unit of a local reduction: fits into the L1 cache */
#define HOST_SLICE_BYTES 131072 /* unit of forwarding and reducing between hosts */
#define HOST_PIECE_BYTES 524288 /* unit of an all-reduce, per rank, with few sockets */
#define HOST_SMALL_BYTES 65536  /* up to this size latency matters, not bandwidth */
_Static_assert(HOST_SMALL_BYTES <= HOST_SLICE_BYTES, "a small message fits a slice");

struct backend_comm {
    struct tree *tree;   /* all ranks of the case; borrowed */
    struct links *links; /* the ranks of the communicator */
    struct ucx *ucx;     /* transport between hosts; NULL: sockets */
    const struct reduce_kernels *kernels;
    char *block;          /* HOST_BLOCK_BYTES */
    char *scratch;        /* 3 * HOST_SLICE_BYTES */
    const char **sources; /* for each group member, where its input is read from */
    char **targets;
    struct flow *flows;  /* 2 * world_size */
    size_t small_bytes;  /* largest message that is copied to slots */
    size_t stream_bytes; /* smallest message whose result bypasses the caches */
};

/* Run a collective of ranks that all share memory. */
int shm_run(struct backend_comm *comm, const struct backend_call *call);

/* Run a collective over endpoints, for any placement of the ranks. */
int net_run(struct backend_comm *comm, const struct backend_call *call);

/* For mulsum: multiply the input of `rank` by its scalar. out may equal in. */
void host_scale(const struct backend_comm *comm, enum dtype type, int rank, void *out,
                const void *in, size_t count);

/* Bytes that a rank sends in the call. In an alltoallv, the largest number that any rank
 * sends. */
size_t host_send_bytes(const struct backend_comm *comm, const struct backend_call *call);

extern const struct backend backend_host;

#endif
