/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_clock.h - read the clock rate of the rank's GPU, throttling, and NVLink traffic
 * from NVML
 *
 * Do not call inside a timed loop: a call may take milliseconds. */
#ifndef RINGBENCH_WORKER_NCCL_GPU_CLOCK_H
#define RINGBENCH_WORKER_NCCL_GPU_CLOCK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Layout of NVML's nvmlFieldValue_t. */
struct gpu_field {
    unsigned field, scope;
    long long taken_us, latency_us;
    int type, status;
    unsigned long long value;
};

struct gpu_clock_functions {
    int (*device_by_bus_id)(const char *bus_id, void **device);
    int (*clock_info)(void *device, int type, unsigned *mhz);
    int (*slow_reasons)(void *device, unsigned long long *reasons);
    int (*field_values)(void *device, int n, struct gpu_field *fields);
};

struct gpu_clock {
    struct gpu_clock_functions call;
    void *device; /* NULL: NVML does not know the GPU */
    unsigned first_mhz;
    bool has_links;
    uint64_t first_sent; /* bytes that the NVLinks had sent at gpu_clock_open */
};

/* Find the GPU by its PCI bus id, and read clock and counters for the first time. */
void gpu_clock_open(struct gpu_clock *clock, const char *bus_id);

/* {"gpu_mhz": [first, now], "gpu_slowed"}, a new object; NULL: not known. */
json_t *gpu_clock_json(const struct gpu_clock *clock);

/* Payload bytes that all NVLinks have sent since gpu_clock_open. False: not known. */
bool gpu_clock_links(const struct gpu_clock *clock, uint64_t *sent);

#endif
