/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_list.h - CPUs as the kernel lists them: "0,2-3" */
#ifndef RINGBENCH_COMMON_CPU_LIST_H
#define RINGBENCH_COMMON_CPU_LIST_H

#include <stdbool.h>

#define CPU_LIST_CPUS_MAX 65536

/* Take the next range from *at, which is moved behind it. False at the end, or where it
 * is no such list: *at points to what is left of it then. */
bool cpu_list_next(const char **at, unsigned *first, unsigned *last);

/* Whether it is a list of at least one CPU. */
bool cpu_list_is_valid(const char *list);

/* Whether two valid lists have a CPU in common. */
bool cpu_lists_meet(const char *a, const char *b);

#endif
