/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_clock.c - read the clock rate of the rank's GPU, throttling, and NVLink traffic */
#include "agent/worker/nccl/gpu_clock.h"

#include <limits.h>
#include <string.h>

#include "agent/worker/nccl/nvml.h"
#include "agent/worker/base/shared_object.h"

#define LINK_DATA_SENT 138 /* NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, in KiB */
#define ALL_LINKS UINT_MAX

#define SLOW                                                                             \
    (NVML_SLOW_POWER_CAP | NVML_SLOW_HARDWARE | NVML_SLOW_HEAT |                         \
     NVML_SLOW_HARDWARE_HEAT | NVML_SLOW_POWER_BRAKE)

#define FUNCTION(member, symbol)                                                         \
    {                                                                                    \
        .name = (symbol), .offset = offsetof(struct gpu_clock_functions, member)         \
    }

static const struct shared_symbol symbols[] = {
    FUNCTION(device_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2"),
    FUNCTION(clock_info, "nvmlDeviceGetClockInfo"),
    {.name = "nvmlDeviceGetCurrentClocksEventReasons",
     .offset = offsetof(struct gpu_clock_functions, slow_reasons),
     .is_optional = true,
     .instead = "nvmlDeviceGetCurrentClocksThrottleReasons"},
    {.name = "nvmlDeviceGetFieldValues",
     .offset = offsetof(struct gpu_clock_functions, field_values),
     .is_optional = true},
};

/* 0: not known. */
static unsigned read_mhz(const struct gpu_clock *clock)
{
    unsigned mhz = 0;

    return clock->call.clock_info(clock->device, NVML_CLOCK_SM, &mhz) ? 0 : mhz;
}

/* Bytes that all NVLinks have sent so far. False: not known. */
static bool read_sent(const struct gpu_clock *clock, uint64_t *sent)
{
    struct gpu_field field = {.field = LINK_DATA_SENT, .scope = ALL_LINKS};

    if (!clock->call.field_values || clock->call.field_values(clock->device, 1, &field) ||
        field.status)
        return false;
    *sent = field.value << 10;
    return true;
}

void gpu_clock_open(struct gpu_clock *clock, const char *bus_id)
{
    struct error ignored;
    void *library = nvml_open(NULL);

    memset(clock, 0, sizeof(*clock));
    if (!library ||
        shared_object_bind(library, symbols, sizeof(symbols) / sizeof(symbols[0]),
                           &clock->call, &ignored))
        return;
    if (clock->call.device_by_bus_id(bus_id, &clock->device))
        clock->device = NULL;
    if (!clock->device)
        return;
    clock->first_mhz = read_mhz(clock);
    clock->has_links = read_sent(clock, &clock->first_sent);
}

json_t *gpu_clock_json(const struct gpu_clock *clock)
{
    unsigned long long reasons = 0;
    json_t *json;
    unsigned mhz;

    if (!clock->device)
        return NULL;
    json = json_object();
    mhz = read_mhz(clock);
    if (mhz && clock->first_mhz)
        json_object_set_new(json, "gpu_mhz",
                            json_pack("[i, i]", (int)clock->first_mhz, (int)mhz));
    if (clock->call.slow_reasons &&
        clock->call.slow_reasons(clock->device, &reasons) == 0)
        json_object_set_new(json, "gpu_slowed", json_boolean((reasons & SLOW) != 0));
    return json;
}

bool gpu_clock_links(const struct gpu_clock *clock, uint64_t *sent)
{
    uint64_t now;

    if (!clock->has_links || !read_sent(clock, &now) || now < clock->first_sent)
        return false;
    *sent = now - clock->first_sent;
    return true;
}
