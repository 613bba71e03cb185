/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_ids.h - the unique ids that a communicator is formed with, through the store
 *
 * * One id by rank 0 under ringbench/nccl_id. Above 128 ranks more than one, where the
 * library can (ncclCommInitRankScalable): rank I * N / ids makes number I, as
 * ringbench/nccl_id/I, so that not one process has to greet all the others. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_IDS_H
#define RINGBENCH_WORKER_NCCL_NCCL_IDS_H

#include <stdint.h>

#include "agent/worker/group/rendezvous_client.h"
#include "agent/worker/nccl/nccl_lib.h"
#include "common/base/error.h"

#define NCCL_IDS_MAX 64

/* The number of unique ids for a world: RINGBENCH_RANKS_PER_NCCL_ID (128) ranks share
 * one. */
int nccl_ids_count(const struct nccl_lib *nccl, int world_size);

/* Who shares ids: ranks of a communicator, numbered within it. */
struct nccl_ids_ranks {
    const char *scope; /* what the keys begin with after ringbench/, or "" */
    int rank, world_size;
    int n_ids;
};

/* Make what this rank has to make, wait for the others'. */
int nccl_ids_exchange(const struct nccl_lib *nccl, struct rendezvous_client *store,
                      const struct nccl_ids_ranks *ranks, int64_t timeout_ms,
                      struct nccl_id *ids, struct error *err);

#endif
