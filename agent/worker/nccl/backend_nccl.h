/* SPDX-License-Identifier: Apache-2.0 */
/* backend_nccl.h - the NCCL backend: collectives over GPU memory */
#ifndef RINGBENCH_WORKER_NCCL_BACKEND_NCCL_H
#define RINGBENCH_WORKER_NCCL_BACKEND_NCCL_H

#include "agent/worker/bench/backend.h"

extern const struct backend backend_nccl;

#endif
