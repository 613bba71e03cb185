/* caches.h - the caches of CPUs, as the kernel tells them */
#ifndef RINGBENCH_WORKER_CACHES_H
#define RINGBENCH_WORKER_CACHES_H

#include <sched.h>
#include <stdint.h>

/* Bytes of the caches behind the first level that CPUs of this set have, each counted
 * once; 0: unknown. root: "" or what stands before /sys; set: THIS_MACHINE_CPUS_SIZE. */
uint64_t caches_bytes(const char *root, const cpu_set_t *set);

#endif
