/* SPDX-License-Identifier: Apache-2.0 */
/* windows.c - memory of the emulated NCCL, and its registration
 *
 * As in NCCL, a window needs memory from ncclMemAlloc. Registering it is a collective
 * call with the same order and size on all ranks. Sources: ncclCommWindowRegister in
 * src/register/register.cc (2.27), ncclDevrWindowRegisterInGroup in src/dev_runtime.cc.
 */
#include "tests/nccl_emulation/windows.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/nccl_emulation/cudart.h"
#include "tests/nccl_emulation/nccl.h"
#include "tests/nccl_emulation/settings.h"

bool emulated_is_registered(const struct ncclComm *comm, const char *buffer)
{
    for (int i = 0; i < RANGES_MAX; i++) {
        const struct range *range = &comm->registered[i];
        if (range->begin && buffer >= range->begin &&
            buffer < range->begin + range->bytes)
            return true;
    }
    return false;
}

#ifndef EMULATED_OLD
#define GRANULARITY ((size_t)2 << 20) /* ncclMemAlloc rounds sizes up to this */
#define WINDOW_ALIGNMENT 4096
#define MEMORIES_MAX 64

/* Memory from ncclMemAlloc that supports windows; users: its registered windows. */
struct memory {
    struct range range;
    int users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory memories[MEMORIES_MAX];

/* The range that contains the address; NULL: other memory. Call with the lock held. */
static struct memory *memory_of(const char *at)
{
    for (int i = 0; i < MEMORIES_MAX; i++) {
        const struct range *range = &memories[i].range;
        if (range->begin && at >= range->begin && at < range->begin + range->bytes)
            return &memories[i];
    }
    return NULL;
}

static int version_of(void)
{
    int version;

    ncclGetVersion(&version);
    return version;
}

int ncclMemAlloc(void **out, size_t bytes)
{
    size_t asked = bytes + (emulation_setting("other_window", 0) ? GRANULARITY : 0);
    size_t whole = (asked + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
    bool has_vmm = !emulation_setting("no_vmm", 0);
    int i = 0;

    if (emulation_setting("no_nccl_memory", 0) ||
        cudaMalloc(out, has_vmm ? whole : bytes))
        return emulated_fail(NCCL_RESULT_CUDA, "Cuda failure 'out of memory'");
    pthread_mutex_lock(&lock);
    while (i < MEMORIES_MAX && memories[i].range.begin)
        i++;
    if (has_vmm && i == MEMORIES_MAX)
        abort();
    if (has_vmm)
        memories[i] = (struct memory){.range = {.begin = *out, .bytes = whole}};
    pthread_mutex_unlock(&lock);
    return NCCL_RESULT_SUCCESS;
}

/* Registered memory must not be freed. */
int ncclMemFree(void *memory)
{
    pthread_mutex_lock(&lock);
    struct memory *found = memory_of(memory);
    if (found && (found->users > 0 || found->range.begin != memory))
        abort();
    if (found)
        *found = (struct memory){.users = 0};
    pthread_mutex_unlock(&lock);
    cudaFree(memory);
    return NCCL_RESULT_SUCCESS;
}

static void use(const void *memory, int more)
{
    pthread_mutex_lock(&lock);
    struct memory *found = memory_of(memory);
    if (found)
        found->users += more;
    pthread_mutex_unlock(&lock);
}

/* The registration's handle is the range. */
static void *note_registered(nccl_comm comm, const void *memory, size_t bytes)
{
    int i = 0;

    while (i < RANGES_MAX && comm->registered[i].begin)
        i++;
    if (i == RANGES_MAX)
        abort();
    comm->registered[i] = (struct range){.begin = memory, .bytes = bytes};
    comm->n_registered++;
    use(memory, 1);
    return &comm->registered[i];
}

static int forget(nccl_comm comm, const void *handle)
{
    for (int i = 0; i < RANGES_MAX; i++) {
        struct range *range = &comm->registered[i];
        if (handle == range && range->begin) {
            use(range->begin, -1);
            range->begin = NULL;
            comm->n_registered--;
            return NCCL_RESULT_SUCCESS;
        }
    }
    return emulated_fail(NCCL_RESULT_USAGE, "Deregister: Could not find handle");
}

int ncclCommRegister(nccl_comm comm, void *memory, size_t bytes, void **handle)
{
    if (emulation_setting("register_hangs", 0))
        emulation_hang();
    *handle = note_registered(comm, memory, bytes);
    return NCCL_RESULT_SUCCESS;
}

int ncclCommDeregister(nccl_comm comm, void *handle)
{
    return handle ? forget(comm, handle) : NCCL_RESULT_SUCCESS;
}

/* Wait until all ranks have registered the same number of windows. -1: sizes differ,
 * where NCCL fails to map a peer's memory. */
static int meet(nccl_comm comm, size_t bytes)
{
    struct member *members = wire_members(comm->wire), *own = &members[comm->rank];
    const struct timespec nap = {.tv_nsec = 50000};
    long number = atomic_load(&own->windows) + 1;
    bool is_same = true;

    atomic_store(&own->window_bytes[number % 2], bytes);
    atomic_store(&own->windows, number);
    for (int rank = 0; rank < comm->n; rank++) {
        while (atomic_load(&members[rank].windows) < number)
            nanosleep(&nap, NULL);
        is_same =
            is_same && atomic_load(&members[rank].window_bytes[number % 2]) == bytes;
    }
    return is_same ? 0 : -1;
}

/* The size of the allocation that contains the window; 0: it does not support windows. */
static size_t whole_of(const char *memory, size_t bytes, bool *is_aligned)
{
    size_t whole = 0;

    pthread_mutex_lock(&lock);
    const struct memory *found = memory_of(memory);
    if (found && memory + bytes <= found->range.begin + found->range.bytes) {
        whole = found->range.bytes;
        *is_aligned = (size_t)(memory - found->range.begin) % WINDOW_ALIGNMENT == 0;
    }
    pthread_mutex_unlock(&lock);
    return whole;
}

/* Without symmetric memory NCCL returns success: up to 2.28 with a local registration as
 * the window, from 2.29 on without a window. */
static int register_without(nccl_comm comm, void *memory, size_t bytes,
                            nccl_window *window)
{
    const char *local = getenv("NCCL_LOCAL_REGISTER");

    if (version_of() < 22900 && !(local && strcmp(local, "0") == 0))
        *window = note_registered(comm, memory, bytes);
    return NCCL_RESULT_SUCCESS;
}

int ncclCommWindowRegister(nccl_comm comm, void *memory, size_t bytes,
                           nccl_window *window, int flags)
{
    int version = version_of();
    bool is_aligned = true;

    if (version < 22800 || version >= 22900)
        *window = NULL;
    if (!memory || bytes == 0)
        return version < 22900 ? NCCL_RESULT_SUCCESS
                               : emulated_fail(NCCL_RESULT_ARGUMENT, "invalid pointer");
    if (flags != NCCL_WINDOW_SYMMETRIC)
        return emulated_fail(NCCL_RESULT_ARGUMENT, "emulated: a window of another kind");
    if (emulation_setting("register_hangs", 0))
        emulation_hang();
    if (emulation_setting("no_windows", 0))
        return register_without(comm, memory, bytes, window);
    size_t whole = whole_of(memory, bytes, &is_aligned);
    if (whole == 0 && version < 22800)
        return NCCL_RESULT_SUCCESS; /* NCCL warns and returns no window */
    if (whole == 0)
        return emulated_fail(NCCL_RESULT_CUDA, "Cuda failure 1 'invalid argument'");
    if (!is_aligned && version >= 22800)
        return emulated_fail(NCCL_RESULT_ARGUMENT,
                             "Window address must be suitably aligned.");
    if (meet(comm, whole))
        return emulated_fail(NCCL_RESULT_CUDA, "Cuda failure 1 'invalid argument'");
    *window = note_registered(comm, memory, bytes);
    return NCCL_RESULT_SUCCESS;
}

int ncclCommWindowDeregister(nccl_comm comm, nccl_window window)
{
    return window ? forget(comm, window) : NCCL_RESULT_SUCCESS;
}
#endif
