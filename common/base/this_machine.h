/* SPDX-License-Identifier: Apache-2.0 */
/* this_machine.h - the machine that this program runs on */
#ifndef RINGBENCH_COMMON_THIS_MACHINE_H
#define RINGBENCH_COMMON_THIS_MACHINE_H

#include <sched.h>
#include <stddef.h>

#define THIS_MACHINE_CPUS_MAX 8192
/* Bytes of a set of them. */
#define THIS_MACHINE_CPUS_SIZE CPU_ALLOC_SIZE(THIS_MACHINE_CPUS_MAX)

/* The CPUs that this thread may use, whoever gave them; CPU_FREE frees them. NULL:
 * unknown. A cpu_set_t by itself ends at 1,024 CPUs, and the kernel refuses one that is
 * smaller than its own. */
cpu_set_t *this_machine_cpus(void);

/* How many these are; 0: unknown. */
int this_machine_cpus_count(void);

/* The id of this boot, which is the same in all containers; "" where it can't be read.
 * Returns text. */
const char *this_machine_boot_id(char *text, size_t size);

#endif
