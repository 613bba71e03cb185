/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - what the kernel has counted on this machine since it was started */
#ifndef RINGBENCH_AGENT_MACHINE_SAMPLE_H
#define RINGBENCH_AGENT_MACHINE_SAMPLE_H

#include <stdint.h>

/* A value below 0, or NAN: this kernel does not say. */
struct machine_sample {
    int64_t taken_ns; /* monotonic */
    double load;
    int64_t busy, stolen, all; /* of the CPUs together, ticks */
    int64_t cpu_pressure_us, memory_pressure_us;
    int64_t quota_us; /* held back by a CPU quota */
    int64_t thermal;  /* throttled, times */
};

/* Read it for these CPUs ("0,2-3"). `root` is put before every path, "" for the host
 * itself. Some hundred microseconds. */
void machine_sample_read(const char *root, const char *cpus,
                         struct machine_sample *sample);

#endif
