/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_facts.h - read the inventory of this machine's GPUs from NVML, for --probe */
#ifndef RINGBENCH_WORKER_NCCL_GPU_FACTS_H
#define RINGBENCH_WORKER_NCCL_GPU_FACTS_H

#include <jansson.h>

/* A new array of all GPUs, including GPUs that this process may not use: `gpus` in
 * docs/development/agent-protocol.md. NULL: no NVML. */
json_t *gpu_facts(void);

#endif
