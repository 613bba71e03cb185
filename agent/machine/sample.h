/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - reads the kernel's counters of load, pressure and throttling */
#ifndef RINGBENCH_AGENT_MACHINE_SAMPLE_H
#define RINGBENCH_AGENT_MACHINE_SAMPLE_H

#include <stdint.h>

/* A value below 0, or NAN, is unknown. */
struct machine_sample {
    int64_t taken_ns; /* monotonic */
    double load;
    int64_t busy, stolen, all; /* sums over the CPUs, in ticks */
    int64_t cpu_pressure_us, memory_pressure_us;
    int64_t quota_us; /* time throttled by a CPU quota */
    int64_t thermal;  /* number of thermal throttle events */
};

/* Read the counters for these CPUs ("0,2-3"), which takes a few hundred microseconds.
 * `root` is the prefix of every path, "" for the host itself. */
void machine_sample_read(const char *root, const char *cpus,
                         struct machine_sample *sample);

#endif
