/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_probe.h - report what the NCCL backend supports on this machine */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_PROBE_H
#define RINGBENCH_WORKER_NCCL_NCCL_PROBE_H

#include <jansson.h>

#include "agent/worker/nccl/cuda_lib.h"
#include "agent/worker/nccl/nccl_lib.h"

/* Load both libraries. The error names the missing one. */
int nccl_probe_load(struct cuda_lib *cuda, struct nccl_lib *nccl, struct error *err);

/* Count the devices that this process sees. No driver or no device is an error. */
int nccl_probe_devices(const struct cuda_lib *cuda, int *count, struct error *err);

/* A new object. */
json_t *nccl_probe_describe(void);

#endif
