/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_list.h - parses CPU lists in the kernel's format, such as "0,2-3" */
#ifndef RINGBENCH_COMMON_CPU_LIST_H
#define RINGBENCH_COMMON_CPU_LIST_H

#include <stdbool.h>

#define CPU_LIST_CPUS_MAX 65536

/* Parse the next range at *at and move *at past it. Return false at the end or on invalid
 * text; *at then points to the unparsed rest. */
bool cpu_list_next(const char **at, unsigned *first, unsigned *last);

/* Return true if the text is a valid list with at least one CPU. */
bool cpu_list_is_valid(const char *list);

/* Return true if two valid lists have a CPU in common. */
bool cpu_lists_meet(const char *a, const char *b);

#endif
