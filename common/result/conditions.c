/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.c - describes the state of a node's machine during a case */
#include "common/result/conditions.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define NEVER (double)INFINITY
#define NUMBER_MAX 32

/* clang-format off */
static const struct condition_field fields[CONDITION_COUNT] = {
    [CONDITION_SECONDS] = {"seconds", "s", NEVER, "", "",
     "length of the interval that the other values cover: from before the first rank's "
     "start to the last rank's end"},
    [CONDITION_LOAD] = {"load_before", "", NEVER, "", "",
     "the machine's load average over one minute when the case began"},
    [CONDITION_OTHERS] = {"others_cores", "cores", 0.25, "other processes used ", " cores",
     "CPU time per second that other processes used on the ranks' CPUs"},
    [CONDITION_RANKS] = {"ranks_cores", "cores", NEVER, "", "",
     "CPU time per second that the node's ranks used"},
    [CONDITION_STEAL] = {"steal_percent", "%", 1.0, "the hypervisor took ", " % of the CPU time",
     "steal time: share of time in which the hypervisor ran other guests on the ranks' CPUs while a process was runnable"},
    [CONDITION_INVOLUNTARY] = {"involuntary_per_s", "1/s", NEVER, "", "",
     "how often per second a rank lost its core, yields included; maximum over ranks"},
    [CONDITION_CPU_PRESSURE] = {"cpu_pressure_percent", "%", NEVER, "", "",
     "share of time in which a process waited for a CPU (PSI, `some`)"},
    [CONDITION_MEMORY_PRESSURE] = {"memory_pressure_percent", "%", 1.0,
     "memory was short for ", " % of the time",
     "share of time in which a process waited for memory (PSI, `some`)"},
    [CONDITION_QUOTA] = {"quota_percent", "%", 1.0, "a CPU quota held the node back for ",
     " % of the time",
     "share of time in which the agent's cgroup or a parent had used up its CPU quota"},
    [CONDITION_THERMAL] = {"thermal_throttles", "", 0.5, "cores were throttled for heat ",
     " times", "number of times that the kernel saw one of the ranks' cores throttled by heat"},
    [CONDITION_CPU_MHZ_FIRST] = {"cpu_mhz_first", "MHz", NEVER, "", "",
     "clowest clock of the ranks' cores before the first row"},
    [CONDITION_CPU_MHZ_LAST] = {"cpu_mhz_last", "MHz", NEVER, "", "",
     "lowest clock of the ranks' cores after the last row"},
    [CONDITION_GPU_MHZ_FIRST] = {"gpu_mhz_first", "MHz", NEVER, "", "",
     "clowest SM clock of the ranks' GPUs before the first row"},
    [CONDITION_GPU_MHZ_LAST] = {"gpu_mhz_last", "MHz", NEVER, "", "",
     "lowest SM clock of the ranks' GPUs after the last row"},
    [CONDITION_GPU_SLOWED] = {"ranks_gpu_slowed", "", 0.5, "ranks whose GPU was slowed down by heat or power: ", "",
     "number of ranks whose GPU was slowed by heat or power after the last row, according to its driver"},
    [CONDITION_NVLINK_BYTES] = {"nvlink_bytes", "bytes", NEVER, "", "",
     "bytes that the NVLinks of the ranks' GPUs sent"},
};
/* clang-format on */

const struct condition_field *condition_field(enum condition condition)
{
    return &fields[condition];
}

json_t *conditions_json(const double values[CONDITION_COUNT])
{
    json_t *object = json_object();

    for (int i = 0; i < CONDITION_COUNT; i++) {
        /* Three decimals are enough: no value is more precise. */
        if (isfinite(values[i]))
            json_object_set_new(object, fields[i].name,
                                json_real(round(values[i] * 1000.0) / 1000.0));
    }
    return object;
}

void conditions_read(const json_t *object, double values[CONDITION_COUNT])
{
    for (int i = 0; i < CONDITION_COUNT; i++) {
        const json_t *value = json_object_get(object, fields[i].name);

        values[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
}

/* Format a value. Values without a unit are counts and get no decimals. */
static void format_number(double value, bool is_count, char text[NUMBER_MAX])
{
    if (value < 1.0 && !is_count)
        snprintf(text, NUMBER_MAX, "%.2g", value);
    else
        snprintf(text, NUMBER_MAX, "%.*f", value < 10.0 && !is_count, value);
}

json_t *conditions_notes(const double values[CONDITION_COUNT])
{
    json_t *notes = json_array();

    for (int i = 0; i < CONDITION_COUNT; i++) {
        char number[NUMBER_MAX], text[160];

        /* The comparison is false for NAN, which means an unknown value. */
        if (!(values[i] > fields[i].limit))
            continue;
        format_number(values[i], !*fields[i].unit, number);
        snprintf(text, sizeof(text), "%s%s%s", fields[i].words, number, fields[i].more);
        json_array_append_new(notes, json_string(text));
    }
    return notes;
}
