/* SPDX-License-Identifier: Apache-2.0 */
/* profiler.c - NCCL's side of the profiler interface, emulated */
#include "tests/nccl_emulation/profiler.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/nccl_emulation/chooser.h"
#include "tests/nccl_emulation/nccl.h"

enum { GROUP = 1, COLLECTIVE = 2, TRANSFER = 4, GROUP_CALL = 256, COLLECTIVE_CALL = 512 };

/* Events of each interface version, as laid out in NCCL 2.23 to 2.28. */
struct coll_1 {
    const char *name;
    uint64_t hash, number;
    uint8_t function;
    const void *send;
    void *recv;
    size_t count;
    int root;
    uint8_t type;
    uint32_t op;
    size_t traffic;
    uint8_t channels_max, warps, algo, proto;
    int is_collnet, is_nvls;
};

/* These parts have the same layout from version 2 on. */
struct call {
    uint64_t number;
    const char *function;
    const void *send;
    void *recv;
    size_t count;
    int root;
    const char *type;
};

struct tuning {
    uint8_t channels, warps; /* before version 4: the maximum number of channels */
    const char *algo, *proto;
};

struct coll_2 {
    const char *name;
    uint64_t hash;
    struct call call;
    size_t traffic;
    struct tuning tuning;
};

struct coll_3 {
    const char *name;
    uint64_t hash;
    struct call call;
    struct tuning tuning;
};

struct coll_4 {
    struct call call;
    struct tuning tuning;
};

struct transfer_4 {
    const char *function;
    void *buffer;
    const char *type;
    size_t count;
    int peer;
    uint8_t channels;
};

struct event {
    union {
        uint8_t type;
        uint64_t type_5;
    };
    void *parent;
    int rank;
    union {
        struct coll_1 coll_1;
        struct coll_2 coll_2;
        struct coll_3 coll_3;
        struct coll_4 coll_4;
        struct transfer_4 transfer_4;
    };
};

/* A plugin; the arguments of init differ by version. */
typedef void any_fn(void);
struct plugin {
    const char *name;
    any_fn *init;
    int (*start)(void *context, void **handle, void *event);
    int (*stop)(void *handle);
    int (*record)(void *handle, int state, void *args);
    int (*finalize)(void *context);
};

typedef int init_1(void **, int *);
typedef int init_4(void **, int *, const char *, uint64_t, int, int, int, any_fn *);
typedef int init_5(void **, uint64_t, int *, const char *, int, int, int, any_fn *);

static const struct plugin *plugin;
static int plugin_version;
static void *context; /* of the process's only communicator */
static int mask;
static _Thread_local void *call_handle;

static int library_version(void)
{
    int version;

    ncclGetVersion(&version);
    return version;
}

/* The newest interface that this version of NCCL knows. 2.29 and 2.30 also look for a
 * sixth.
 */
static const struct plugin *find_plugin(void)
{
    const char *name = getenv("NCCL_PROFILER_PLUGIN");
    int newest = library_version() / 100 - 222;
    const struct plugin *found = NULL;
    void *handle;

    if (library_version() < 22300 || !name || !*name ||
        strncasecmp(name, "STATIC_PLUGIN", strlen(name)) != 0)
        return NULL;
    newest = newest > 2 ? newest - 1 : newest; /* 2.24 and 2.25 both have version 2 */
    handle = dlopen(NULL, RTLD_NOW | RTLD_LOCAL);
    for (int i = newest > 5 ? 5 : newest; i > 0 && !found; i--) {
        char symbol[32];
        snprintf(symbol, sizeof(symbol), "ncclProfiler_v%d", i);
        found = dlsym(handle, symbol);
        plugin_version = i;
    }
    dlclose(handle);
    return found;
}

void profiler_begin(struct ncclComm *comm)
{
    const struct plugin *found = find_plugin();

    /* Without a plugin, ranks may be threads of one process. */
    if (!found)
        return;
    plugin = found;
    if (plugin_version < 4)
        ((init_1 *)plugin->init)(&context, &mask);
    else if (plugin_version == 4)
        ((init_4 *)plugin->init)(&context, &mask, "c", 1, 1, comm->n, comm->rank, NULL);
    else
        ((init_5 *)plugin->init)(&context, 1, &mask, "c", 1, comm->n, comm->rank, NULL);
}

void profiler_end(struct ncclComm *comm)
{
    (void)comm;
    if (!plugin)
        return;
    if (context)
        plugin->finalize(context);
    plugin = NULL;
}

/* Members without a value are not 0 in NCCL either. */
static void *begin_event(struct event *event, int type, int rank)
{
    void *handle = NULL;

    if (plugin_version == 5)
        event->type_5 = (uint64_t)type;
    else
        event->type = (uint8_t)type;
    event->rank = rank;
    plugin->start(context, &handle, event);
    return handle;
}

static void *start_plain(int type, int rank)
{
    struct event event;

    memset(&event, 0x5a, sizeof(event));
    return begin_event(&event, type, rank);
}

static void *start_collective(const struct operation *operation)
{
    enum { CHANNELS_MAX = 64 };
    struct chosen chosen = chooser_take(operation);
    uint8_t channels = plugin_version < 4 ? CHANNELS_MAX : (uint8_t)chosen.channels;
    struct tuning tuning = {.channels = channels,
                            .algo = chooser_algorithm(chosen.algo),
                            .proto = chooser_protocol(chosen.proto)};
    struct event event;

    memset(&event, 0x5a, sizeof(event));
    if (plugin_version == 1)
        event.coll_1 = (struct coll_1){.channels_max = channels,
                                       .algo = (uint8_t)chosen.algo,
                                       .proto = (uint8_t)chosen.proto};
    else if (plugin_version == 2)
        event.coll_2 = (struct coll_2){.tuning = tuning};
    else if (plugin_version == 3)
        event.coll_3 = (struct coll_3){.tuning = tuning};
    else
        event.coll_4 = (struct coll_4){.tuning = tuning};
    return begin_event(&event, COLLECTIVE, operation->comm->rank);
}

static void *start_transfer(const struct operation *operation)
{
    struct event event;

    memset(&event, 0x5a, sizeof(event));
    if (plugin_version >= 4)
        event.transfer_4 =
            (struct transfer_4){.function = chooser_function(operation), .channels = 4};
    return begin_event(&event, TRANSFER, operation->comm->rank);
}

static void tell(const struct operation *operation)
{
    bool is_collective = operation->kind <= OPERATION_REDUCE;
    void *handle;

    if (is_collective && chooser_take(operation).is_symmetric)
        return;
    handle = is_collective ? start_collective(operation) : start_transfer(operation);
    if (handle || library_version() < 22600)
        plugin->stop(handle);
}

/* Events of API calls, from 2.28 on. NCCL keeps a returned handle and stops it at each
 * later call, which costs measured time. */
static void tell_call(const struct operation *operation)
{
    int asked = __atomic_load_n(&mask, __ATOMIC_RELAXED);

    if (library_version() < 22800)
        return;
    if (asked) {
        start_plain(GROUP_CALL, operation->comm->rank);
        call_handle = start_plain(COLLECTIVE_CALL, operation->comm->rank);
    }
    if (call_handle)
        abort();
}

void profiler_launch(const struct operation *operations, size_t n)
{
    int asked = __atomic_load_n(&mask, __ATOMIC_RELAXED);
    void *group;

    if (!plugin || n == 0 || operations->comm->n == 1)
        return;
    tell_call(operations);
    if (!asked)
        return;
    group = start_plain(GROUP, operations->comm->rank);
    for (size_t i = 0; i < n && (group || library_version() >= 22800); i++)
        tell(&operations[i]);
    if (group)
        plugin->stop(group);
}
