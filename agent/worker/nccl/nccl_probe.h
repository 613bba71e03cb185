/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_probe.h - report what the NCCL backend supports on this machine */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_PROBE_H
#define RINGBENCH_WORKER_NCCL_NCCL_PROBE_H

#include <jansson.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/nccl/cuda_lib.h"
#include "agent/worker/nccl/nccl_lib.h"

struct backend_libraries {
    struct cuda_lib cuda;
    struct nccl_lib nccl;
    struct error why; /* names the missing library; ERROR_NONE: both are loaded */
};

/* Load both libraries, once per process: a libnccl has hundreds of MB, and its search for
 * the CUDA version reads all of them. A new object of malloc. */
struct backend_libraries *nccl_probe_load(void);

/* Count the devices that this process sees. No driver or no device is an error. */
int nccl_probe_devices(const struct cuda_lib *cuda, int *count, struct error *err);

/* A new object. */
json_t *nccl_probe_describe(const struct backend *backend);

#endif
