/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - transfers between the processes of an emulated communicator */
#include "tests/nccl_emulation/wire.h"

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/nccl_emulation/settings.h"

#define RING_BYTES 32768
#define MEMBERS_MAX 1024
#define IDLE_POLLS 2 /* polls before sleeping */

struct ring {
    _Alignas(64) _Atomic uint64_t written;
    _Alignas(64) _Atomic uint64_t read;
    _Alignas(64) char data[RING_BYTES];
};

struct shared {
    _Alignas(64) atomic_int arrived;
    struct member members[MEMBERS_MAX];
    struct ring rings[]; /* [from * n + to] */
};

struct wire {
    int rank, n;
    size_t bytes;
    struct shared *shared;
    char *busy; /* [direction][peer]: an earlier transfer is unfinished */
};

int wire_make(char *text, size_t size)
{
    int fd = memfd_create("ringbench-emulated-nccl", MFD_CLOEXEC);

    if (fd < 0)
        return -1;
    snprintf(text, size, "/proc/%d/fd/%d", (int)getpid(), fd);
    return 0;
}

static void rest(unsigned *polls)
{
    struct timespec nap = {.tv_nsec = 50000};

    if (++*polls < IDLE_POLLS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

static struct shared *map(const char *name, size_t bytes)
{
    int fd = open(name, O_RDWR | O_CLOEXEC);
    void *memory = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

struct wire *wire_attach(const char *name, int rank, int n, atomic_bool *stop)
{
    struct wire *wire = calloc(1, sizeof(*wire));
    size_t pairs = (size_t)n * (size_t)n;
    unsigned polls = 0;

    if (!wire)
        return NULL;
    wire->rank = rank;
    wire->n = n;
    wire->bytes = sizeof(struct shared) + pairs * sizeof(struct ring);
    wire->busy = calloc(2, (size_t)n);
    wire->shared = map(name, wire->bytes);
    if (!wire->busy || !wire->shared) {
        wire_detach(wire);
        return NULL;
    }
    atomic_store(&wire->shared->members[rank].pid, getpid());
    atomic_store(&wire->shared->members[rank].sm, (int)emulation_setting("sm", 90));
    atomic_fetch_add(&wire->shared->arrived, 1);
    while (atomic_load(&wire->shared->arrived) < n && !atomic_load(stop))
        rest(&polls);
    return wire;
}

struct member *wire_members(struct wire *wire)
{
    return wire->shared->members;
}

void wire_detach(struct wire *wire)
{
    if (wire && wire->shared)
        munmap(wire->shared, wire->bytes);
    if (wire)
        free(wire->busy);
    free(wire);
}

static struct ring *ring_of(const struct wire *wire, const struct transfer *transfer)
{
    int from = transfer->is_send ? wire->rank : transfer->peer;
    int to = transfer->is_send ? transfer->peer : wire->rank;

    return &wire->shared->rings[from * wire->n + to];
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t put(struct ring *ring, const char *data, size_t len)
{
    uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    uint64_t read = atomic_load_explicit(&ring->read, memory_order_acquire);
    size_t at = written % RING_BYTES;
    size_t part = least(least(len, RING_BYTES - (written - read)), RING_BYTES - at);

    memcpy(ring->data + at, data, part);
    atomic_store_explicit(&ring->written, written + part, memory_order_release);
    return part;
}

static size_t take(struct ring *ring, char *data, size_t len)
{
    uint64_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
    uint64_t written = atomic_load_explicit(&ring->written, memory_order_acquire);
    size_t at = read % RING_BYTES;
    size_t part = least(least(len, written - read), RING_BYTES - at);

    memcpy(data, ring->data + at, part);
    atomic_store_explicit(&ring->read, read + part, memory_order_release);
    return part;
}

/* Returns the number of unfinished transfers. */
static size_t pass(struct wire *wire, struct transfer *transfers, size_t n, bool *moved)
{
    size_t unfinished = 0;

    memset(wire->busy, 0, 2 * (size_t)wire->n);
    for (size_t i = 0; i < n; i++) {
        struct transfer *transfer = &transfers[i];
        size_t left = transfer->len - transfer->done;
        char *busy = &wire->busy[(transfer->is_send ? wire->n : 0) + transfer->peer];
        if (left == 0)
            continue;
        if (!*busy) {
            struct ring *ring = ring_of(wire, transfer);
            char *data = transfer->data + transfer->done;
            size_t part =
                transfer->is_send ? put(ring, data, left) : take(ring, data, left);
            transfer->done += part;
            *moved = *moved || part > 0;
        }
        if (transfer->done < transfer->len) {
            *busy = 1;
            unfinished++;
        }
    }
    return unfinished;
}

bool wire_move(struct wire *wire, struct transfer *transfers, size_t n, atomic_bool *stop)
{
    unsigned polls = 0;
    bool moved = false;

    while (pass(wire, transfers, n, &moved) > 0) {
        if (atomic_load(stop))
            return false;
        if (moved)
            polls = 0;
        else
            rest(&polls);
        moved = false;
    }
    return true;
}
