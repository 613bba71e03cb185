/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_clock.h - how fast the rank's GPU runs, whether heat or power holds it back, and
 * what its NVLinks have carried
 *
 * From NVML. Not for a timed loop: a call takes up to milliseconds. */
#ifndef RINGBENCH_WORKER_NCCL_GPU_CLOCK_H
#define RINGBENCH_WORKER_NCCL_GPU_CLOCK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* nvmlFieldValue_t */
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
    void *device; /* NULL: nothing is known of it */
    unsigned first_mhz;
    bool has_links;
    uint64_t first_sent; /* by the NVLinks, bytes */
};

/* Find the GPU of that PCI bus id, and look at its clock for the first time. */
void gpu_clock_open(struct gpu_clock *clock, const char *bus_id);

/* {"gpu_mhz": [first, now], "gpu_slowed"}; NULL: nothing is known. */
json_t *gpu_clock_json(const struct gpu_clock *clock);

/* Bytes of data that all NVLinks together have sent since it was opened; false: nothing
 * is known. */
bool gpu_clock_links(const struct gpu_clock *clock, uint64_t *sent);

#endif
