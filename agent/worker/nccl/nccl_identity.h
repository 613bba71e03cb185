/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_identity.h - what a rank tells the others of itself before NCCL is asked
 *
 * NCCL answers some mistakes with a message of its own after seconds, some with a hang.
 * Those that can be seen beforehand become a sentence that names the ranks. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_IDENTITY_H
#define RINGBENCH_WORKER_NCCL_NCCL_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

struct nccl_identity {
    int nccl_version, cuda_runtime, cuda_driver;
    bool is_emulated;
    unsigned char uuid[16]; /* of the GPU */
    int capability;         /* its compute capability, times 10 */
    char bus_id[20], device_name[64];
    char node[64];
    char nccl_hostid[64]; /* NCCL_HOSTID, which parts one machine into several; or "" */
    enum error_code failure_code; /* why this rank cannot; ERROR_NONE: it can */
    char failure[256];
};

/* Whether these ranks can form a communicator. */
int nccl_identity_compare(const struct nccl_identity *all, int n, struct error *err);

/* What is odd, but no reason to end: "" or a sentence. */
void nccl_identity_remark(const struct nccl_identity *all, int n, char *text,
                          size_t size);

/* The oldest GPU, where it is older than that: "the GPU of rank 2 on node-1 (NVIDIA A100)
 * has 8.0", or "". */
void nccl_identity_older(const struct nccl_identity *all, int n, int capability,
                         char *text, size_t size);

/* How many ranks use the GPU that `rank` does. */
int nccl_identity_sharers(const struct nccl_identity *all, int n, int rank);

#endif
