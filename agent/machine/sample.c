/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - reads the kernel's counters of load, pressure and throttling */
#include "agent/machine/sample.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/machine/host_file.h"
#include "common/base/clock.h"
#include "common/base/cpu_list.h"

#define CGROUPS "/sys/fs/cgroup"

/* ---- /proc/stat ---- */

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES };

static bool is_listed(const char *cpus, unsigned cpu)
{
    unsigned first, last;

    while (cpu_list_next(&cpus, &first, &last))
        if (first <= cpu && cpu <= last)
            return true;
    return false;
}

/* USER and NICE include the guests' time. */
static void add_cpu(const char *line, const char *cpus, struct machine_sample *sample)
{
    int64_t times[TIMES] = {0};
    char *at;
    long cpu = strtol(line + 3, &at, 10);

    if (cpu < 0 || cpu > INT_MAX || !is_listed(cpus, (unsigned)cpu))
        return;
    for (int i = 0; i < TIMES; i++)
        times[i] = strtoll(at, &at, 10);
    sample->busy +=
        times[USER] + times[NICE] + times[SYSTEM] + times[IRQ] + times[SOFTIRQ];
    sample->stolen += times[STEAL];
    for (int i = 0; i < TIMES; i++)
        sample->all += times[i];
}

static void read_cpus(const char *root, const char *cpus, struct machine_sample *sample)
{
    FILE *file = host_file_open(root, "/proc/stat");
    char line[512];

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "cpu", 3) == 0 && line[3] >= '0' && line[3] <= '9')
            add_cpu(line, cpus, sample);
    if (file)
        fclose(file);
    if (sample->all == 0)
        sample->busy = sample->stolen = sample->all = -1;
}

/* ---- small files ---- */

/* Parse a line such as "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345". */
static int64_t read_pressure(const char *root, const char *path)
{
    char line[256];
    const char *total =
        host_file_line(root, path, line, sizeof(line)) && strncmp(line, "some ", 5) == 0
            ? strstr(line, "total=")
            : NULL;

    return total ? strtoll(total + 6, NULL, 10) : -1;
}

static double read_load(const char *root)
{
    char line[128];

    return host_file_line(root, "/proc/loadavg", line, sizeof(line)) ? strtod(line, NULL)
                                                                     : (double)NAN;
}

/* Only some CPU models have this counter. */
static int64_t read_thermal(const char *root, const char *cpus)
{
    unsigned cpu, last;
    int64_t sum = -1;

    while (cpu_list_next(&cpus, &cpu, &last)) {
        for (; cpu <= last; cpu++) {
            char path[128], line[64];

            snprintf(path, sizeof(path),
                     "/sys/devices/system/cpu/cpu%u/thermal_throttle/core_throttle_count",
                     cpu);
            if (!host_file_line(root, path, line, sizeof(line)))
                return sum;
            sum = (sum < 0 ? 0 : sum) + strtoll(line, NULL, 10);
        }
    }
    return sum;
}

/* ---- quotas ---- */

/* The time in us that a cgroup's own quota throttled; -1 without a counter. */
static int64_t read_throttled(const char *root, const char *cgroup)
{
    char path[PATH_MAX], line[128];
    int64_t us = -1;
    FILE *file;

    snprintf(path, sizeof(path), CGROUPS "%s/cpu.stat", cgroup);
    file = host_file_open(root, path);
    while (file && us < 0 && fgets(line, sizeof(line), file))
        if (strncmp(line, "throttled_usec ", 15) == 0)
            us = strtoll(line + 15, NULL, 10);
    if (file)
        fclose(file);
    return us;
}

/* Sum over the cgroup and its ancestors, because each may have a quota and counts only
 * its own throttling. */
static int64_t read_quota(const char *root)
{
    char cgroup[PATH_MAX / 2];
    int64_t sum = -1;

    if (!host_file_cgroup(root, cgroup, sizeof(cgroup)))
        return -1;
    for (;;) {
        int64_t us = read_throttled(root, cgroup);

        if (us >= 0)
            sum = (sum < 0 ? 0 : sum) + us;
        if (!cgroup[0])
            return sum;
        *strrchr(cgroup, '/') = '\0';
    }
}

void machine_sample_read(const char *root, const char *cpus,
                         struct machine_sample *sample)
{
    memset(sample, 0, sizeof(*sample));
    sample->taken_ns = clock_monotonic_ns();
    read_cpus(root, cpus, sample);
    sample->load = read_load(root);
    sample->cpu_pressure_us = read_pressure(root, "/proc/pressure/cpu");
    sample->memory_pressure_us = read_pressure(root, "/proc/pressure/memory");
    sample->quota_us = read_quota(root);
    sample->thermal = read_thermal(root, cpus);
}
