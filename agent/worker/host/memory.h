/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - how much host memory a rank may take */
#ifndef RINGBENCH_WORKER_HOST_MEMORY_H
#define RINGBENCH_WORKER_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "agent/worker/bench/backend.h"

/* MemTotal, in bytes; 0 if unknown. */
uint64_t memory_total(void);

/* The lesser of MemAvailable and what the memory cgroup leaves, less a reserve of 5 % and
 * at least 256 MiB, shared evenly among `ranks` ranks of this machine. */
void memory_share(int ranks, struct backend_memory *out);

/* The value in bytes of a line "Key:   123 kB" in /proc/meminfo's text; 0 if absent. */
uint64_t memory_parse_meminfo(const char *text, const char *key);

#endif
