/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - NVML, NVIDIA's management library, which comes with the driver and is loaded
 * at run time */
#ifndef RINGBENCH_WORKER_NCCL_NVML_H
#define RINGBENCH_WORKER_NCCL_NVML_H

#include "common/base/error.h"

/* The numbers of nvml.h, "Clocks Event Reasons" and nvmlClockType_t. */
#define NVML_CLOCK_SM 1
#define NVML_CLOCK_MEMORY 2
#define NVML_SLOW_POWER_CAP 0x04ULL
#define NVML_SLOW_HARDWARE 0x08ULL
#define NVML_SLOW_HEAT 0x20ULL
#define NVML_SLOW_HARDWARE_HEAT 0x40ULL
#define NVML_SLOW_POWER_BRAKE 0x80ULL

/* The library, ready to be asked; NULL with the reason: there is none. RINGBENCH_NVML_LIB
 * names another file. */
void *nvml_open(struct error *err);

#endif
