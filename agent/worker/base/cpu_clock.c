/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_clock.c - read the clock rate of this thread's core */
#include "agent/worker/base/cpu_clock.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>

double cpu_clock_mhz(const char *root)
{
    char path[PATH_MAX];
    double khz = 0.0;
    FILE *file;

    snprintf(path, sizeof(path),
             "%s/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", root,
             sched_getcpu());
    file = fopen(path, "re");
    if (!file)
        return (double)NAN;
    if (fscanf(file, "%lf", &khz) != 1 || khz <= 0.0)
        khz = (double)NAN;
    fclose(file);
    return khz / 1e3;
}
