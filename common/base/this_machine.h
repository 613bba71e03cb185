/* SPDX-License-Identifier: Apache-2.0 */
/* this_machine.h - reads properties of the machine that this program runs on */
#ifndef RINGBENCH_COMMON_THIS_MACHINE_H
#define RINGBENCH_COMMON_THIS_MACHINE_H

#include <sched.h>
#include <stddef.h>

#define THIS_MACHINE_CPUS_MAX 8192
/* Size of a CPU set, bytes. */
#define THIS_MACHINE_CPUS_SIZE CPU_ALLOC_SIZE(THIS_MACHINE_CPUS_MAX)

/* Return the CPUs that this thread may use, or NULL if unknown; free the set with
 * CPU_FREE. The set is allocated, because a plain cpu_set_t ends at 1,024 CPUs, and the
 * kernel rejects a set that is smaller than its own. */
cpu_set_t *this_machine_cpus(void);

/* Return the number of CPUs that this thread may use; 0: unknown. */
int this_machine_cpus_count(void);

/* Write the ID of this boot, which all containers on the machine share, or "" if it
 * cannot be read. Return `text`. */
const char *this_machine_boot_id(char *text, size_t size);

#endif
