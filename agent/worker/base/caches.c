/* caches.c - the caches of CPUs, as the kernel tells them */
#include "agent/worker/base/caches.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu_list.h"
#include "common/base/this_machine.h"

#define INDEXES_MAX 8 /* caches that a CPU has */
#define LINE_MAX_BYTES 4096

struct place {
    const char *root;
    unsigned cpu;
    int index;
};

static bool read_line(const struct place *at, const char *name, char *text, size_t size)
{
    char path[PATH_MAX];
    FILE *file;
    bool has;

    snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%u/cache/index%d/%s",
             at->root, at->cpu, at->index, name);
    file = fopen(path, "re");
    has = file && fgets(text, (int)size, file);
    if (file)
        fclose(file);
    if (has)
        text[strcspn(text, "\n")] = '\0';
    return has;
}

/* Whether no CPU of the set before this one has the same cache. */
static bool is_first(const char *list, const cpu_set_t *set, unsigned cpu)
{
    unsigned first, last;

    while (cpu_list_next(&list, &first, &last))
        for (unsigned other = first; other <= last && other < cpu; other++)
            if (CPU_ISSET_S(other, THIS_MACHINE_CPUS_SIZE, set))
                return false;
    return true;
}

static uint64_t bytes_of(const struct place *at, const cpu_set_t *set)
{
    char level[16], type[32], size[32], shared[LINE_MAX_BYTES], *unit;
    uint64_t value;

    if (!read_line(at, "level", level, sizeof(level)) || atoi(level) < 2 ||
        !read_line(at, "type", type, sizeof(type)) || strcmp(type, "Instruction") == 0 ||
        !read_line(at, "size", size, sizeof(size)) ||
        !read_line(at, "shared_cpu_list", shared, sizeof(shared)) ||
        !is_first(shared, set, at->cpu))
        return 0;
    value = strtoull(size, &unit, 10);
    return *unit == 'K' ? value << 10 : *unit == 'M' ? value << 20 : value;
}

uint64_t caches_bytes(const char *root, const cpu_set_t *set)
{
    uint64_t sum = 0;

    for (unsigned cpu = 0; cpu < THIS_MACHINE_CPUS_MAX; cpu++)
        for (int i = 0; CPU_ISSET_S(cpu, THIS_MACHINE_CPUS_SIZE, set) && i < INDEXES_MAX;
             i++)
            sum += bytes_of(&(struct place){root, cpu, i}, set);
    return sum;
}
