/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_identity.h - compare the ranks' GPUs and libraries before NCCL connects them
 *
 * NCCL reports some mismatches only after seconds, and hangs on others. Mismatches that
 * are visible beforehand become an error that names the ranks. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_IDENTITY_H
#define RINGBENCH_WORKER_NCCL_NCCL_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

struct nccl_identity {
    int nccl_version, cuda_runtime, cuda_driver;
    bool is_emulated;
    unsigned char uuid[16]; /* of the GPU */
    int capability;         /* compute capability, times 10 */
    char bus_id[20], device_name[64];
    char node[64];
    char nccl_hostid[64]; /* NCCL_HOSTID, which makes NCCL see several hosts; or "" */
    bool may_share;       /* NCCL_MULTI_RANK_GPU_ENABLE is set */
    enum error_code failure_code; /* why this rank cannot run; ERROR_NONE: it can */
    char failure[256];
};

/* 0 if these ranks can form a communicator, else -1 with the first reason. */
int nccl_identity_compare(const struct nccl_identity *all, int n, struct error *err);

/* Describe, in a sentence, a difference that deserves a warning but is not an error. ""
 * if there is none. */
void nccl_identity_remark(const struct nccl_identity *all, int n, char *text,
                          size_t size);

/* Describe the oldest GPU if its compute capability is below `capability`: "the GPU of
 * rank 2 on node-1 (NVIDIA A100) has 8.0". Otherwise "". */
void nccl_identity_older(const struct nccl_identity *all, int n, int capability,
                         char *text, size_t size);

/* Includes the rank itself. */
int nccl_identity_sharers(const struct nccl_identity *all, int n, int rank);

#endif
