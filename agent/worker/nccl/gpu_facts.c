/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_facts.c - read the inventory of this machine's GPUs from NVML */
#include "agent/worker/nccl/gpu_facts.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "agent/worker/nccl/nvml.h"
#include "common/base/json_util.h"

#define GPUS_MAX 64
#define LINKS_MAX 36
#define BUS_ID_MAX 20
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* A function of NVML, with a member for each signature. */
union call {
    void *address;
    int (*count)(unsigned *count);
    int (*by_index)(unsigned index, void **device);
    int (*number)(void *device, unsigned *value);
    int (*of_type)(void *device, unsigned type, unsigned *value);
    int (*pair)(void *device, unsigned *now, unsigned *later);
    int (*text)(void *device, char *text, unsigned size);
    int (*reasons)(void *device, unsigned long long *bits);
    int (*errors)(void *device, int type, int since, unsigned long long *count);
    int (*into)(void *device, void *structure);
    int (*of_link)(void *device, unsigned link, void *structure);
    int (*of_peers)(void *device, void *peer, int *level);
    int (*p2p)(void *device, void *peer, int capability, int *status);
};

struct driver {
    void *library;
    void *devices[GPUS_MAX];
    char bus_ids[GPUS_MAX][BUS_ID_MAX];
    unsigned n;
};

static union call find(const struct driver *driver, const char *symbol)
{
    union call call = {dlsym(driver->library, symbol)};

    return call;
}

/* ---- values of one GPU ---- */

enum shape { TEXT, NUMBER, IS_ON, IS_ON_NOW, OF_TYPE };

struct fact {
    const char *name, *symbol;
    enum shape shape;
    unsigned type; /* argument of OF_TYPE */
};

static const struct fact lasting[] = {
    {"name", "nvmlDeviceGetName", TEXT, 0},
    {"uuid", "nvmlDeviceGetUUID", TEXT, 0},
    {"vbios", "nvmlDeviceGetVbiosVersion", TEXT, 0},
    {"persistence", "nvmlDeviceGetPersistenceMode", IS_ON, 0},
    {"ecc", "nvmlDeviceGetEccMode", IS_ON_NOW, 0},
    {"mig", "nvmlDeviceGetMigMode", IS_ON_NOW, 0},
    {"sm_mhz_max", "nvmlDeviceGetMaxClockInfo", OF_TYPE, NVML_CLOCK_SM},
    {"memory_mhz_max", "nvmlDeviceGetMaxClockInfo", OF_TYPE, NVML_CLOCK_MEMORY},
    {"power_limit_mw", "nvmlDeviceGetEnforcedPowerLimit", NUMBER, 0},
};

static const struct fact momentary[] = {
    {"sm_mhz", "nvmlDeviceGetClockInfo", OF_TYPE, NVML_CLOCK_SM},
    {"memory_mhz", "nvmlDeviceGetClockInfo", OF_TYPE, NVML_CLOCK_MEMORY},
    {"temperature_c", "nvmlDeviceGetTemperature", OF_TYPE, 0},
    {"power_mw", "nvmlDeviceGetPowerUsage", NUMBER, 0},
};

static json_t *query(const struct driver *driver, void *device, const struct fact *fact)
{
    union call call = find(driver, fact->symbol);
    char text[96] = "";
    unsigned value = 0, later = 0;

    if (!call.address)
        return NULL;
    switch (fact->shape) {
    case TEXT:
        return call.text(device, text, sizeof(text)) ? NULL : json_clean_string(text);
    case NUMBER:
        return call.number(device, &value) ? NULL : json_integer(value);
    case IS_ON:
        return call.number(device, &value) ? NULL : json_boolean(value);
    case IS_ON_NOW:
        return call.pair(device, &value, &later) ? NULL : json_boolean(value);
    case OF_TYPE:
        return call.of_type(device, fact->type, &value) ? NULL : json_integer(value);
    }
    return NULL;
}

static void query_all(const struct driver *driver, void *device, const struct fact *facts,
                      size_t n, json_t *object)
{
    for (size_t i = 0; i < n; i++) {
        json_t *value = query(driver, device, &facts[i]);

        if (value)
            json_object_set_new(object, facts[i].name, value);
    }
}

static json_t *slowed_by(unsigned long long reasons)
{
    static const struct {
        const char *name;
        unsigned long long bit;
    } names[] = {{"power cap", NVML_SLOW_POWER_CAP},
                 {"heat", NVML_SLOW_HEAT},
                 {"heat, by the hardware", NVML_SLOW_HARDWARE_HEAT},
                 {"power brake", NVML_SLOW_POWER_BRAKE},
                 /* The driver sets this bit together with either of the previous two. */
                 {"hardware", NVML_SLOW_HARDWARE}};
    json_t *list = json_array();

    for (size_t i = 0; i < COUNT(names); i++)
        if (reasons & names[i].bit)
            json_array_append_new(list, json_string(names[i].name));
    return list;
}

/* Values that change from one moment to the next. */
static json_t *now_json(const struct driver *driver, void *device)
{
    union call reasons = find(driver, "nvmlDeviceGetCurrentClocksEventReasons");
    union call errors = find(driver, "nvmlDeviceGetTotalEccErrors");
    unsigned long long value = 0;
    json_t *now = json_object();

    query_all(driver, device, momentary, COUNT(momentary), now);
    if (!reasons.address)
        reasons = find(driver, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (reasons.address && reasons.reasons(device, &value) == 0)
        json_object_set_new(now, "slowed_by", slowed_by(value));
    /* 1 selects uncorrected errors; 0 counts them since the driver was loaded. */
    if (errors.address && errors.errors(device, 1, 0, &value) == 0)
        json_object_set_new(now, "ecc_errors", json_integer((json_int_t)value));
    return now;
}

/* ---- NVLink ---- */

/* Layout of NVML's nvmlPciInfo_t. */
struct pci_info {
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

static void format_bus_id(const struct pci_info *info, char text[BUS_ID_MAX])
{
    snprintf(text, BUS_ID_MAX, "%04x:%02x:%02x.0", info->domain & 0xffff,
             info->bus & 0xff, info->device & 0x1f);
}

static void count_peer(const struct driver *driver, void *device, unsigned link,
                       json_t *to)
{
    union call type_of = find(driver, "nvmlDeviceGetNvLinkRemoteDeviceType");
    union call remote = find(driver, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    struct pci_info info = {.domain = 0};
    char bus_id[BUS_ID_MAX];
    const char *peer = bus_id;
    int type = 0; /* type of the link's other end; 0: a GPU, 2: a switch */

    if (type_of.address && type_of.of_link(device, link, &type) == 0 && type == 2)
        peer = "switch";
    else if (!remote.address || remote.of_link(device, link, &info))
        return;
    format_bus_id(&info, bus_id);
    json_object_set_new(to, peer, json_integer(json_get_int(to, peer, 0) + 1));
}

/* Return {"active", "inactive": [links], "to": {peer: links}}, or NULL without NVLink. */
static json_t *links_json(const struct driver *driver, void *device)
{
    union call state = find(driver, "nvmlDeviceGetNvLinkState");
    json_t *inactive = json_array(), *to = json_object(), *links = NULL;
    int active = 0;

    for (unsigned link = 0; state.address && link < LINKS_MAX; link++) {
        unsigned is_active = 0;

        if (state.of_link(device, link, &is_active))
            continue;
        active += is_active != 0;
        if (is_active)
            count_peer(driver, device, link, to);
        else
            json_array_append_new(inactive, json_integer(link));
    }
    if (active > 0 || json_array_size(inactive) > 0)
        links = json_pack("{s:i, s:O, s:O}", "active", active, "inactive", inactive, "to",
                          to);
    json_decref(inactive);
    json_decref(to);
    return links;
}

/* ---- from GPU to GPU ---- */

/* The abbreviations of `nvidia-smi topo -m`. nvmlGpuTopologyLevel_t counts in tens. */
static const char *level_text(int level)
{
    static const char *const levels[] = {"PIX", "PIX", "PXB", "PHB", "NODE", "SYS"};

    return level >= 0 && level / 10 < (int)COUNT(levels) ? levels[level / 10] : "?";
}

/* nvmlGpuP2PStatus_t */
static const char *p2p_text(int status)
{
    static const char *const texts[] = {"ok",
                                        "not supported by the chipset",
                                        "not supported by the GPU",
                                        "not supported by the topology",
                                        "switched off",
                                        "not supported"};

    return status >= 0 && status < (int)COUNT(texts) ? texts[status] : "not known";
}

/* Add `paths` and `p2p`: topology and peer access to each other GPU. */
static void add_peers(const struct driver *driver, unsigned self, json_t *gpu)
{
    union call ancestor = find(driver, "nvmlDeviceGetTopologyCommonAncestor");
    union call p2p = find(driver, "nvmlDeviceGetP2PStatus");
    json_t *paths = json_object(), *can = json_object();

    for (unsigned i = 0; i < driver->n; i++) {
        void *device = driver->devices[self], *peer = driver->devices[i];
        int level = 0, status = 0;

        if (i == self)
            continue;
        if (ancestor.address && ancestor.of_peers(device, peer, &level) == 0)
            json_object_set_new(paths, driver->bus_ids[i],
                                json_string(level_text(level)));
        if (p2p.address && p2p.p2p(device, peer, 0, &status) == 0)
            json_object_set_new(can, driver->bus_ids[i], json_string(p2p_text(status)));
    }
    json_object_set_new(gpu, "paths", paths);
    json_object_set_new(gpu, "p2p", can);
}

/* ---- all GPUs ---- */

/* nvmlGpuFabricInfo_t: the fabric manager's registration of the GPU. */
static void add_fabric(const struct driver *driver, void *device, json_t *gpu)
{
    static const char *const states[] = {NULL, "not started", "in progress", "completed"};
    struct {
        unsigned char cluster[16];
        int status;
        unsigned clique;
        unsigned char state;
    } info = {.state = 0};
    union call call = find(driver, "nvmlDeviceGetGpuFabricInfo");

    if (call.address && call.into(device, &info) == 0 && info.state > 0 &&
        info.state < COUNT(states))
        json_object_set_new(gpu, "fabric", json_string(states[info.state]));
}

static void add_memory(const struct driver *driver, void *device, json_t *gpu)
{
    struct {
        unsigned long long total, free, used;
    } memory = {0, 0, 0};
    union call call = find(driver, "nvmlDeviceGetMemoryInfo");

    if (call.address && call.into(device, &memory) == 0)
        json_object_set_new(gpu, "memory_bytes", json_integer((json_int_t)memory.total));
}

static json_t *describe(const struct driver *driver, unsigned i)
{
    void *device = driver->devices[i];
    json_t *gpu = json_pack("{s:s}", "pci", driver->bus_ids[i]);
    json_t *links = links_json(driver, device);

    query_all(driver, device, lasting, COUNT(lasting), gpu);
    add_memory(driver, device, gpu);
    if (links)
        json_object_set_new(gpu, "nvlink", links);
    add_fabric(driver, device, gpu);
    add_peers(driver, i, gpu);
    json_object_set_new(gpu, "now", now_json(driver, device));
    return gpu;
}

/* Skip a GPU that has fallen off the bus, and keep the other GPUs. */
static void find_devices(struct driver *driver)
{
    union call count = find(driver, "nvmlDeviceGetCount_v2");
    union call by_index = find(driver, "nvmlDeviceGetHandleByIndex_v2");
    union call place = find(driver, "nvmlDeviceGetPciInfo_v3");
    unsigned n = 0;

    if (!count.address || !by_index.address || !place.address || count.count(&n))
        return;
    for (unsigned i = 0; i < n && driver->n < GPUS_MAX; i++) {
        struct pci_info info = {.domain = 0};

        if (by_index.by_index(i, &driver->devices[driver->n]) ||
            place.into(driver->devices[driver->n], &info))
            continue;
        format_bus_id(&info, driver->bus_ids[driver->n++]);
    }
}

json_t *gpu_facts(void)
{
    struct driver driver = {.library = nvml_open(NULL)};
    json_t *gpus = driver.library ? json_array() : NULL;

    if (gpus)
        find_devices(&driver);
    for (unsigned i = 0; i < driver.n; i++)
        json_array_append_new(gpus, describe(&driver, i));
    return gpus;
}
