/* SPDX-License-Identifier: Apache-2.0 */
/* affinity.c - bind this rank to the CPUs that the agent assigned */
#include "agent/worker/base/affinity.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "common/base/cpu_list.h"
#include "common/base/this_machine.h"

/* Returns -1 if the text is not a list of CPUs, or contains a CPU number that is too
 * large. */
static int parse(const char *text, cpu_set_t *set, size_t size)
{
    unsigned first, last;

    if (!cpu_list_is_valid(text))
        return -1;
    while (cpu_list_next(&text, &first, &last)) {
        if (last >= THIS_MACHINE_CPUS_MAX)
            return -1;
        for (unsigned cpu = first; cpu <= last; cpu++)
            CPU_SET_S(cpu, size, set);
    }
    return 0;
}

int affinity_apply(const char *cpus, struct error *err)
{
    size_t size = THIS_MACHINE_CPUS_SIZE;
    cpu_set_t *set;
    int status = 0;

    if (!cpus)
        return 0;
    set = CPU_ALLOC(THIS_MACHINE_CPUS_MAX);
    if (!set)
        return error_set(err, ERROR_MEMORY, "out of memory");
    CPU_ZERO_S(size, set);
    if (parse(cpus, set, size))
        status = error_set(err, ERROR_INVALID,
                           "environment: RINGBENCH_CPUS=%.64s must be a list like 0,2-3",
                           cpus);
    else if (sched_setaffinity(0, size, set))
        status = error_set_errno(err, ERROR_INVALID, errno,
                                 "environment: RINGBENCH_CPUS=%.64s", cpus);
    CPU_FREE(set);
    return status;
}

const char *affinity_given(void)
{
    return getenv("RINGBENCH_CPUS");
}

bool affinity_is_given(void)
{
    return affinity_given() != NULL;
}
