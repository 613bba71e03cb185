/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_ids.h - exchange ncclUniqueIds through the store
 *
 * Rank 0 normally creates one id under ringbench/nccl_id. With more than 128 ranks and a
 * library that has ncclCommInitRankScalable, there are several ids. Not all ranks then
 * connect to one process. Rank I * N / ids creates id I under ringbench/nccl_id/I. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_IDS_H
#define RINGBENCH_WORKER_NCCL_NCCL_IDS_H

#include <stdint.h>

#include "agent/worker/group/rendezvous_client.h"
#include "agent/worker/nccl/nccl_lib.h"
#include "common/base/error.h"

#define NCCL_IDS_MAX 64

/* Return the number of ids for a communicator: one per RINGBENCH_RANKS_PER_NCCL_ID
 * (default 128) ranks. */
int nccl_ids_count(const struct nccl_lib *nccl, int world_size);

/* Ranks are numbered within the communicator. */
struct nccl_ids_ranks {
    const char *scope; /* prefix of the keys after "ringbench/"; or "" */
    int rank, world_size;
    int n_ids;
};

/* Create this rank's ids, if any, and wait for all others. */
int nccl_ids_exchange(const struct nccl_lib *nccl, struct rendezvous_client *store,
                      const struct nccl_ids_ranks *ranks, int64_t timeout_ms,
                      struct nccl_id *ids, struct error *err);

#endif
