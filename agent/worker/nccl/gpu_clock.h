/* gpu_clock.h - how fast the rank's GPU runs, and whether heat or power holds it back
 *
 * From NVML. Not for a timed loop: a call takes up to milliseconds. */
#ifndef RINGBENCH_WORKER_NCCL_GPU_CLOCK_H
#define RINGBENCH_WORKER_NCCL_GPU_CLOCK_H

#include <jansson.h>

struct gpu_clock_functions {
    int (*device_by_bus_id)(const char *bus_id, void **device);
    int (*clock_info)(void *device, int type, unsigned *mhz);
    int (*slow_reasons)(void *device, unsigned long long *reasons);
};

struct gpu_clock {
    struct gpu_clock_functions call;
    void *device; /* NULL: nothing is known of it */
    unsigned first_mhz;
};

/* Find the GPU of that PCI bus id, and look at its clock for the first time. */
void gpu_clock_open(struct gpu_clock *clock, const char *bus_id);

/* {"gpu_mhz": [first, now], "gpu_slowed"}; NULL: nothing is known. */
json_t *gpu_clock_json(const struct gpu_clock *clock);

#endif
