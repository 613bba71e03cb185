/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_profiler.c - record NCCL's algorithm for a call, from its profiler interface */
#include "agent/worker/nccl/nccl_profiler.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Event types to enable. Other types would cost time per network step or change the
 * measurement. */
enum { EVENT_GROUP = 1, EVENT_COLLECTIVE = 2, EVENT_TRANSFER = 4 };

/* Offsets of an event's members, by interface version. 0: the member does not exist or
 * cannot be used. Up to version 3 the number of channels is only the maximum. */
struct layout {
    unsigned char algo, proto, channels, transfer_channels;
    bool has_numbers; /* algorithm and protocol are numbers, not names */
};

static const struct layout layouts[] = {
    {.algo = 106, .proto = 107, .has_numbers = true},
    {.algo = 112, .proto = 120},
    {.algo = 104, .proto = 112},
    {.algo = 88, .proto = 96, .channels = 80, .transfer_channels = 60},
    {.algo = 88, .proto = 96, .channels = 80, .transfer_channels = 60},
};

static struct {
    int *mask; /* NCCL's event mask while a communicator exists; otherwise NULL */
    bool is_watching;
    struct choice choice;
} plugin;

const char *nccl_algorithm(unsigned number)
{
    static const char *const names[] = {
        "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};

    return number < sizeof(names) / sizeof(*names) ? names[number] : "";
}

const char *nccl_protocol(unsigned number)
{
    static const char *const names[] = {"LL", "LL128", "SIMPLE"};

    return number < sizeof(names) / sizeof(*names) ? names[number] : "";
}

static const char *name_at(const char *event, size_t offset)
{
    const char *name;

    memcpy(&name, event + offset, sizeof(name));
    return name ? name : "";
}

/* If NCCL fuses several calls, the first one's choice counts. */
static void record_collective(const struct layout *layout, const char *event)
{
    struct choice *out = &plugin.choice;
    const unsigned char *bytes = (const unsigned char *)event;

    if (*out->algo)
        return;
    snprintf(out->algo, sizeof(out->algo), "%s",
             layout->has_numbers ? nccl_algorithm(bytes[layout->algo])
                                 : name_at(event, layout->algo));
    snprintf(out->proto, sizeof(out->proto), "%s",
             layout->has_numbers ? nccl_protocol(bytes[layout->proto])
                                 : name_at(event, layout->proto));
    out->channels = layout->channels ? bytes[layout->channels] : 0;
}

static void record_transfer(const struct layout *layout, const char *event)
{
    struct choice *out = &plugin.choice;
    int channels = layout->transfer_channels
                       ? ((const unsigned char *)event)[layout->transfer_channels]
                       : 0;

    snprintf(out->algo, sizeof(out->algo), "P2P");
    out->channels = channels > out->channels ? channels : out->channels;
}

/* Set a handle only for groups. Up to 2.27, NCCL reports calls only in a group that has a
 * handle. From 2.28 on, NCCL would pass any other event's handle back at every later
 * call. */
static int start(void *context, void **handle, const void *event)
{
    /* The relevant types fit into a byte, also in version 5 with its wider type. */
    unsigned char type = *(const unsigned char *)event;

    *handle = NULL;
    if (!plugin.is_watching)
        return 0;
    if (type == EVENT_GROUP)
        *handle = &plugin;
    else if (type == EVENT_COLLECTIVE)
        record_collective(context, event);
    else if (type == EVENT_TRANSFER)
        record_transfer(context, event);
    return 0;
}

static int stop(void *handle)
{
    (void)handle;
    return 0;
}

static int record(void *handle, int state, void *args)
{
    (void)handle;
    (void)state;
    (void)args;
    return 0;
}

static int finalize(void *context)
{
    (void)context;
    plugin.mask = NULL;
    return 0;
}

static int begin(const struct layout *layout, void **context, int *mask)
{
    plugin.mask = mask;
    *mask = 0;
    *context = (void *)(uintptr_t)layout;
    return 0;
}

/* Versions 1 to 3 pass only these arguments. Later versions add arguments that are not
 * needed. */
static int init_1(void **context, int *mask)
{
    return begin(&layouts[0], context, mask);
}

static int init_2(void **context, int *mask)
{
    return begin(&layouts[1], context, mask);
}

static int init_3(void **context, int *mask)
{
    return begin(&layouts[2], context, mask);
}

static int init_4(void **context, int *mask, const char *name, uint64_t hash, int nodes,
                  int ranks, int rank, nccl_profiler_fn *log)
{
    (void)name, (void)hash, (void)nodes, (void)ranks, (void)rank, (void)log;
    return begin(&layouts[3], context, mask);
}

static int init_5(void **context, uint64_t id, int *mask, const char *name, int nodes,
                  int ranks, int rank, nccl_profiler_fn *log)
{
    (void)id, (void)name, (void)nodes, (void)ranks, (void)rank, (void)log;
    return begin(&layouts[4], context, mask);
}

#define PLUGIN(version)                                                                  \
    __attribute__((visibility("default"), used))                                         \
    const struct nccl_profiler ncclProfiler_v##version = {                               \
        "ringbench", (nccl_profiler_fn *)init_##version, start, stop, record, finalize}

PLUGIN(1);
PLUGIN(2);
PLUGIN(3);
PLUGIN(4);
PLUGIN(5);

static void set_mask(int mask)
{
    if (plugin.mask)
        __atomic_store_n(plugin.mask, mask, __ATOMIC_RELAXED);
}

void nccl_profiler_watch(void)
{
    plugin.choice = (struct choice){.by = "profiler"};
    plugin.is_watching = true;
    set_mask(EVENT_COLLECTIVE | EVENT_TRANSFER);
}

void nccl_profiler_finish(struct choice *out)
{
    set_mask(0);
    plugin.is_watching = false;
    if (*plugin.choice.algo)
        *out = plugin.choice;
}
