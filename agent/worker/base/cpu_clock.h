/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_clock.h - how fast the core runs that this thread is on */
#ifndef RINGBENCH_WORKER_CPU_CLOCK_H
#define RINGBENCH_WORKER_CPU_CLOCK_H

/* In MHz, as cpufreq tells; NAN where it does not, as in most virtual machines. `root` is
 * put before the path, "" for this host. Reads a file. */
double cpu_clock_mhz(const char *root);

#endif
