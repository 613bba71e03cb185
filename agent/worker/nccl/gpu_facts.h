/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_facts.h - what the driver says of all GPUs of this machine, for --probe */
#ifndef RINGBENCH_WORKER_NCCL_GPU_FACTS_H
#define RINGBENCH_WORKER_NCCL_GPU_FACTS_H

#include <jansson.h>

/* A new array with an object for each GPU as docs/development/agent-protocol.md has it
 * (`gpus`), whether or not this process may use it; NULL: there is no NVML. */
json_t *gpu_facts(void);

#endif
