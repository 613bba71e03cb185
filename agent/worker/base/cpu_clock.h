/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_clock.h - read the clock rate of this thread's core */
#ifndef RINGBENCH_WORKER_CPU_CLOCK_H
#define RINGBENCH_WORKER_CPU_CLOCK_H

/* The rate in MHz from cpufreq. NAN without cpufreq, as in most virtual machines. `root`
 * is the prefix of the path, "" for this host. Reads a file. */
double cpu_clock_mhz(const char *root);

#endif
