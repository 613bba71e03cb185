/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - load NVML, the management library of NVIDIA's driver, at run time */
#ifndef RINGBENCH_WORKER_NCCL_NVML_H
#define RINGBENCH_WORKER_NCCL_NVML_H

#include "common/base/error.h"

/* Values of "Clocks Event Reasons" and nvmlClockType_t in NVIDIA's nvml.h. */
#define NVML_CLOCK_SM 1
#define NVML_CLOCK_MEMORY 2
#define NVML_SLOW_POWER_CAP 0x04ULL
#define NVML_SLOW_HARDWARE 0x08ULL
#define NVML_SLOW_HEAT 0x20ULL
#define NVML_SLOW_HARDWARE_HEAT 0x40ULL
#define NVML_SLOW_POWER_BRAKE 0x80ULL

/* Load and initialize the library. Returns NULL with the error on failure.
 * RINGBENCH_NVML_LIB names another file. */
void *nvml_open(struct error *err);

#endif
