/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - compute how much host memory a rank may use */
#ifndef RINGBENCH_WORKER_HOST_MEMORY_H
#define RINGBENCH_WORKER_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "agent/worker/bench/backend.h"

/* MemTotal, in bytes; 0 if not known. */
uint64_t memory_total(void);

/* A rank's share: the smaller of MemAvailable and the cgroup's free memory, minus a
 * reserve, divided by the number of `ranks` on this machine. The reserve is 5 % of the
 * memory, at least 256 MiB. */
void memory_share(int ranks, struct backend_memory *out);

/* The value in bytes of a line "Key:   123 kB" in /proc/meminfo's text; 0 if absent. */
uint64_t memory_parse_meminfo(const char *text, const char *key);

#endif
