/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_probe.h - what the NCCL worker can do on this machine, or why nothing */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_PROBE_H
#define RINGBENCH_WORKER_NCCL_NCCL_PROBE_H

#include <jansson.h>

#include "agent/worker/nccl/cuda_lib.h"
#include "agent/worker/nccl/nccl_lib.h"

/* Load both libraries; the text says which one is missing. */
int nccl_probe_load(struct cuda_lib *cuda, struct nccl_lib *nccl, struct error *err);

/* Devices that this process sees; a missing driver or device is an error that says so. */
int nccl_probe_devices(const struct cuda_lib *cuda, int *count, struct error *err);

/* For --probe. */
json_t *nccl_probe_describe(void);

#endif
