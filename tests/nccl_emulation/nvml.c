/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.c - emulated NVML, which reads facts from files (tests/data/nodes)
 *
 * The folder `nvml` in RINGBENCH_ROOT has a folder per GPU, named by its PCI address,
 * with a file per fact. A fact without a file is not supported. Without the folder `nvml`
 * there are two GPUs, which support only the counters of their links. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/nccl_emulation/settings.h"

#define NOT_SUPPORTED 3
#define NOT_FOUND 6
#define GPUS_MAX 16
#define TEXT_MAX 1024

/* nvmlPciInfo_t */
struct pci_info {
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

/* nvmlFieldValue_t */
struct field_value {
    unsigned field, scope;
    long long taken_us, latency_us;
    int type, status;
    unsigned long long value;
};

/* nvmlGpuFabricInfo_t */
struct fabric_info {
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
};

/* nvmlMemory_t */
struct memory {
    unsigned long long total, free, used;
};

int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device);
int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *info);
int nvmlDeviceGetName(void *device, char *text, unsigned size);
int nvmlDeviceGetPersistenceMode(void *device, unsigned *is_on);
int nvmlDeviceGetEccMode(void *device, unsigned *now, unsigned *later);
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later);
int nvmlDeviceGetTotalEccErrors(void *device, int type, int since,
                                unsigned long long *count);
int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *is_active);
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link,
                                        struct pci_info *info);
int nvmlDeviceGetGpuFabricInfo(void *device, struct fabric_info *info);
int nvmlDeviceGetTopologyCommonAncestor(void *device, void *peer, int *level);
int nvmlDeviceGetP2PStatus(void *device, void *peer, int capability, int *status);
int nvmlDeviceGetFieldValues(void *device, int n, struct field_value *values);

struct gpu {
    char bus_id[16];
    unsigned looks;              /* queries of the clock, which falls with each */
    unsigned long long link_kib; /* grows with each query */
};

static struct gpu gpus[GPUS_MAX];
static unsigned n_gpus;

/* ---- the files of a GPU ---- */

static bool read_fact(const struct gpu *gpu, const char *name, char text[TEXT_MAX])
{
    const char *root = getenv("RINGBENCH_ROOT");
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/nvml/%s/%s", root ? root : "", gpu->bus_id, name);
    file = root ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    text[fread(text, 1, TEXT_MAX - 1, file)] = '\0';
    fclose(file);
    return true;
}

static int large_number(void *gpu, const char *name, unsigned long long *value)
{
    char text[TEXT_MAX];

    if (!read_fact(gpu, name, text))
        return NOT_SUPPORTED;
    *value = strtoull(text, NULL, 0);
    return 0;
}

static int number(void *gpu, const char *name, unsigned *value)
{
    unsigned long long large;

    if (large_number(gpu, name, &large))
        return NOT_SUPPORTED;
    *value = (unsigned)large;
    return 0;
}

/* ---- the list of GPUs ---- */

static int is_gpu(const struct dirent *entry)
{
    return strchr(entry->d_name, ':') != NULL;
}

static void add(const char *bus_id)
{
    if (n_gpus < GPUS_MAX)
        snprintf(gpus[n_gpus++].bus_id, sizeof(gpus->bus_id), "%s", bus_id);
}

int nvmlInit_v2(void)
{
    const char *root = getenv("RINGBENCH_ROOT");
    struct dirent **entries;
    char path[4096];
    int n;

    if (n_gpus > 0)
        return 0;
    snprintf(path, sizeof(path), "%s/nvml", root ? root : "");
    n = root ? scandir(path, &entries, is_gpu, alphasort) : -1;
    for (int i = 0; i < n; i++) {
        add(entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0) {
        free(entries);
    } else {
        add("0000:01:00.0");
        add("0000:02:00.0");
    }
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = n_gpus;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &gpus[index];
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
    for (unsigned i = 0; i < n_gpus; i++) {
        if (strcmp(gpus[i].bus_id, bus_id) == 0) {
            *device = &gpus[i];
            return 0;
        }
    }
    return NOT_FOUND;
}

static int place(const char *bus_id, struct pci_info *info)
{
    memset(info, 0, sizeof(*info));
    return sscanf(bus_id, "%x:%x:%x", &info->domain, &info->bus, &info->device) == 3
               ? 0
               : NOT_SUPPORTED;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *info)
{
    const struct gpu *gpu = device;

    return place(gpu->bus_id, info);
}

/* ---- facts of a GPU ---- */

int nvmlDeviceGetName(void *device, char *text, unsigned size)
{
    char name[TEXT_MAX];

    if (!read_fact(device, "name", name))
        return NOT_SUPPORTED;
    snprintf(text, size, "%s", name);
    return 0;
}

int nvmlDeviceGetPersistenceMode(void *device, unsigned *is_on)
{
    return number(device, "persistence", is_on);
}

int nvmlDeviceGetEccMode(void *device, unsigned *now, unsigned *later)
{
    *later = 0;
    return number(device, "ecc", now);
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later)
{
    *later = 0;
    return number(device, "mig", now);
}

/* type 1: uncorrected errors. */
int nvmlDeviceGetTotalEccErrors(void *device, int type, int since,
                                unsigned long long *count)
{
    (void)since;
    return type == 1 ? large_number(device, "ecc_errors", count) : NOT_SUPPORTED;
}

/* NVML_CLOCK_SM is 1. */
int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz)
{
    return number(device, type == 1 ? "sm_mhz_max" : "memory_mhz_max", mhz);
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
    struct gpu *gpu = device;

    if (number(device, type == 1 ? "sm_mhz" : "memory_mhz", mhz))
        return NOT_SUPPORTED;
    if (type == 1)
        *mhz -= 30 * gpu->looks++;
    return 0;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    (void)sensor;
    return number(device, "temperature_c", celsius);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    return number(device, "power_mw", milliwatts);
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
    return number(device, "power_limit_mw", milliwatts);
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
    return large_number(device, "memory_bytes", &memory->total);
}

/* The bits of nvml.h. */
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    return large_number(device, "slowed", reasons);
}

int nvmlDeviceGetGpuFabricInfo(void *device, struct fabric_info *info)
{
    unsigned state;

    if (number(device, "fabric", &state))
        return NOT_SUPPORTED;
    memset(info, 0, sizeof(*info));
    info->state = (unsigned char)state;
    return 0;
}

/* ---- links, and paths to other GPUs ---- */

/* File `inactive`: numbers separated by blanks. */
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *is_active)
{
    char inactive[TEXT_MAX] = "", *at, *rest;
    unsigned n;

    if (number(device, "links", &n) || link >= n)
        return NOT_SUPPORTED;
    *is_active = 1;
    read_fact(device, "inactive", inactive);
    for (at = strtok_r(inactive, " ", &rest); at; at = strtok_r(NULL, " ", &rest))
        if (strtoul(at, NULL, 10) == link)
            *is_active = 0;
    return 0;
}

/* File `to`: a GPU's PCI address, or "switch". */
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type)
{
    char to[TEXT_MAX];

    (void)link;
    if (!read_fact(device, "to", to))
        return NOT_SUPPORTED;
    *type = strcmp(to, "switch") == 0 ? 2 : 0;
    return 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link,
                                        struct pci_info *info)
{
    char to[TEXT_MAX];

    (void)link;
    return read_fact(device, "to", to) ? place(to, info) : NOT_SUPPORTED;
}

/* File `paths`: a line per other GPU, with its PCI address and nvmlGpuTopologyLevel_t. */
int nvmlDeviceGetTopologyCommonAncestor(void *device, void *peer, int *level)
{
    const struct gpu *other = peer;
    char paths[TEXT_MAX];
    const char *at =
        read_fact(device, "paths", paths) ? strstr(paths, other->bus_id) : NULL;

    if (!at)
        return NOT_SUPPORTED;
    *level = atoi(at + strlen(other->bus_id));
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

/* Only NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX and _RX of all links are supported. */
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
