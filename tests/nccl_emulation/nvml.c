/* nvml.c - stands in for NVML: two GPUs with four links between them, of which the second
 * is hot and has lost a link */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/nccl_emulation/settings.h"

#define NOT_SUPPORTED 3
#define LINKS 4

/* nvmlPciInfo_t */
struct pci_info {
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *info);
int nvmlDeviceGetName(void *device, char *text, unsigned size);
int nvmlDeviceGetPersistenceMode(void *device, unsigned *is_on);
int nvmlDeviceGetEccMode(void *device, unsigned *now, unsigned *later);
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later);
int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *is_active);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link,
                                        struct pci_info *info);
int nvmlDeviceGetTopologyCommonAncestor(void *device, void *peer, int *level);
int nvmlDeviceGetP2PStatus(void *device, void *peer, int capability, int *status);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);

/* nvmlFieldValue_t */
struct field_value {
    unsigned field, scope;
    long long taken_us, latency_us;
    int type, status;
    unsigned long long value;
};

int nvmlDeviceGetFieldValues(void *device, int n, struct field_value *values);

struct gpu {
    unsigned mhz; /* falls with each look at it */
    unsigned long long reasons;
    unsigned long long link_kib; /* grows with each look at it */
};

static struct gpu gpus[] = {{1980, 0x1, 0}, {1500, 0x20, 0}};

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

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 2;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &gpus[index];
    return 0;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *info)
{
    memset(info, 0, sizeof(*info));
    info->bus = device == &gpus[0] ? 1 : 2;
    return 0;
}

int nvmlDeviceGetName(void *device, char *text, unsigned size)
{
    snprintf(text, size, "Emulated GPU %d", device == &gpus[0] ? 0 : 1);
    return 0;
}

int nvmlDeviceGetPersistenceMode(void *device, unsigned *is_on)
{
    *is_on = device == &gpus[0];
    return 0;
}

int nvmlDeviceGetEccMode(void *device, unsigned *now, unsigned *later)
{
    (void)device;
    *now = *later = 1;
    return 0;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later)
{
    (void)device;
    (void)now;
    (void)later;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz)
{
    (void)device;
    *mhz = type == 1 ? 1980 : 2619;
    return 0;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *is_active)
{
    *is_active = link + 1 < LINKS || device == &gpus[0];
    return link < LINKS ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link,
                                        struct pci_info *info)
{
    (void)link;
    return nvmlDeviceGetPciInfo_v3(device == &gpus[0] ? &gpus[1] : &gpus[0], info);
}

int nvmlDeviceGetTopologyCommonAncestor(void *device, void *peer, int *level)
{
    (void)device;
    (void)peer;
    *level = 30; /* NVML_TOPOLOGY_HOSTBRIDGE */
    return 0;
}

int nvmlDeviceGetP2PStatus(void *device, void *peer, int capability, int *status)
{
    (void)device;
    (void)peer;
    (void)capability;
    *status = 0;
    return 0;
}

/* NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX and _RX of all links; it has no others. */
int nvmlDeviceGetFieldValues(void *device, int n, struct field_value *values)
{
    struct gpu *gpu = device;

    gpu->link_kib += 1024;
    if (gpu->link_kib == 1024 * (unsigned long long)emulation_setting("slow_links", 0))
        sleep(3);
    for (int i = 0; i < n; i++) {
        values[i].status =
            values[i].field / 2 == 69 && values[i].scope == ~0U ? 0 : NOT_SUPPORTED;
        values[i].value = gpu->link_kib;
    }
    return 0;
}
