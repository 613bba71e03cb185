/* SPDX-License-Identifier: Apache-2.0 */
/* this_machine.c - reads properties of the machine that this program runs on */
#include "common/base/this_machine.h"

#include <stdio.h>
#include <string.h>

cpu_set_t *this_machine_cpus(void)
{
    cpu_set_t *set = CPU_ALLOC(THIS_MACHINE_CPUS_MAX);

    if (set && sched_getaffinity(0, THIS_MACHINE_CPUS_SIZE, set) == 0)
        return set;
    CPU_FREE(set);
    return NULL;
}

int this_machine_cpus_count(void)
{
    cpu_set_t *set = this_machine_cpus();
    int n = set ? CPU_COUNT_S(THIS_MACHINE_CPUS_SIZE, set) : 0;

    CPU_FREE(set);
    return n;
}

const char *this_machine_boot_id(char *text, size_t size)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    text[0] = '\0';
    if (file && fgets(text, (int)size, file))
        text[strcspn(text, "\n")] = '\0';
    if (file)
        fclose(file);
    return text;
}
