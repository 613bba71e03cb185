/* nvml.c - stands in for NVML: two GPUs, of which the second is hot */
#include <string.h>

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);

struct gpu {
    unsigned mhz; /* falls with each look at it */
    unsigned long long reasons;
};

static struct gpu gpus[] = {{1980, 0x1}, {1500, 0x20}};

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
    if (strcmp(bus_id, "0000:01:00.0") == 0)
        *device = &gpus[0];
    else if (strcmp(bus_id, "0000:02:00.0") == 0)
        *device = &gpus[1];
    else
        return 6; /* NVML_ERROR_NOT_FOUND */
    return 0;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
    struct gpu *gpu = device;

    if (type != 1) /* NVML_CLOCK_SM */
        return 2;
    *mhz = gpu->mhz;
    gpu->mhz -= 30;
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    const struct gpu *gpu = device;

    *reasons = gpu->reasons;
    return 0;
}
