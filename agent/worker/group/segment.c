/* SPDX-License-Identifier: Apache-2.0 */
/* segment.c - synchronize the ranks of one host in a shared segment of their leader */
#include "agent/worker/group/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"

/* long, because a wake-up would add its latency to a short wait */
#define SLEEP_AFTER_NS 2000000
#define YIELDS_CROWDED 10
/* Longest sleep. A rank that is about to sleep can miss the wake-up after a loss, so it
 * must wake up by itself within 0.5 s. */
#define SLEEP_NS 200000000

struct slot {
    _Alignas(128) _Atomic uint32_t arrived; /* turn of the member's latest arrival */
    pid_t pid;
    char data[SEGMENT_SLOT_BYTES];
};

struct segment_map {
    unsigned char token[TOKEN_BYTES];
    _Alignas(128) _Atomic uint32_t released; /* the last turn that the leader released */
    _Atomic uint32_t sleepers;
    _Alignas(128) _Atomic uint32_t arrivals; /* futex on which the leader sleeps */
    _Atomic uint32_t leader_sleeps;
    _Alignas(128) struct watch_notice notice;
    _Alignas(128) char area[SEGMENT_AREA_BYTES];
    struct slot slots[];
};

int segment_create(struct segment *segment, int ranks,
                   const unsigned char token[TOKEN_BYTES], struct watch *watch,
                   struct error *err)
{
    *segment = (struct segment){.watch = watch, .n = 1};
    /* Untouched pages use no memory. */
    segment->map_len = sizeof(struct segment_map) + (size_t)ranks * sizeof(struct slot);
    segment->fd = memfd_create("ringbench", MFD_CLOEXEC);
    if (segment->fd < 0 || ftruncate(segment->fd, (off_t)segment->map_len) ||
        pwrite(segment->fd, token, TOKEN_BYTES, 0) != TOKEN_BYTES)
        return error_set_errno(err, ERROR_IO, errno, "cannot create a shared segment");
    return 0;
}

void segment_release(struct segment *segment)
{
    segment->watch->notice = NULL;
    if (segment->map)
        munmap(segment->map, segment->map_len);
    if (segment->fd >= 0)
        close(segment->fd);
    segment->map = NULL;
    segment->fd = -1;
}

static int map_leader(struct segment *segment, const struct segment_place *leader,
                      struct error *err)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)leader->pid, leader->fd);
    int fd = segment->self == 0 ? fcntl(segment->fd, F_DUPFD_CLOEXEC, 0)
                                : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, ERROR_PEER, errno,
                               "cannot open the host's shared segment (%s)", path);
    void *at = mmap(NULL, segment->map_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int failure = errno;
    close(fd);
    if (at == MAP_FAILED)
        return error_set_errno(err, ERROR_MEMORY, failure, "cannot map a shared segment");
    segment->map = at;
    return 0;
}

int segment_join(struct segment *segment, const struct segment_place *leader, int n,
                 int self, struct error *err)
{
    segment->n = n;
    segment->self = self;
    if (map_leader(segment, leader, err))
        return -1;
    if (memcmp(segment->map->token, leader->token, TOKEN_BYTES) != 0)
        return error_set(err, ERROR_PEER,
                         "the opened file is not the shared segment of the host's first "
                         "rank");
    segment->map->slots[self].pid = getpid();
    segment->watch->notice = &segment->map->notice;
    return 0;
}

/* ---- Waiting ---- */

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    const struct timespec slice = {.tv_nsec = SLEEP_NS};

    syscall(SYS_futex, word, FUTEX_WAIT, value, &slice, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Make one step of a wait. Returns 1 if the caller should sleep, -1 if the wait must end,
 * else 0. */
static int pass_time(struct watch *watch, struct watch_idle *idle)
{
    if (idle->polls++ < watch->spins) {
        watch_relax();
        return 0;
    }
    if (watch_check(watch))
        return -1;
    if (watch_progress(watch))
        return 0;
    if (watch->is_crowded && idle->polls > watch->spins + YIELDS_CROWDED)
        return 1;
    int64_t now = clock_monotonic_ns();
    idle->since_ns = idle->since_ns ? idle->since_ns : now;
    if (now - idle->since_ns > SLEEP_AFTER_NS)
        return 1;
    watch_yield(&watch->spared, 0);
    return 0;
}

static bool has_come(_Atomic uint32_t *word, uint32_t turn)
{
    return (int32_t)(atomic_load_explicit(word, memory_order_acquire) - turn) >= 0;
}

void segment_arrive(struct segment *segment, const void *data, size_t len)
{
    struct segment_map *map = segment->map;
    struct slot *slot = &map->slots[segment->self];

    if (len > 0)
        memcpy(slot->data, data, len);
    atomic_store(&slot->arrived, ++segment->turn);
    if (segment->self != 0 && atomic_load(&map->leader_sleeps)) {
        atomic_fetch_add(&map->arrivals, 1);
        futex_wake(&map->arrivals);
    }
}

/* Wait until *word reaches the turn. A sleeper counts itself in *sleepers and sleeps on
 * *alarm, which changes before each wake-up. */
static int await(struct segment *segment, _Atomic uint32_t *word,
                 _Atomic uint32_t *sleepers, _Atomic uint32_t *alarm)
{
    struct watch_idle idle = {0};

    while (!has_come(word, segment->turn)) {
        int status = pass_time(segment->watch, &idle);
        /* The peer may have arrived before its process ended. */
        if (status < 0)
            return has_come(word, segment->turn) ? 0 : -1;
        if (status == 0)
            continue;
        uint32_t before = atomic_load(alarm);
        atomic_fetch_add(sleepers, 1);
        if (!has_come(word, segment->turn))
            futex_wait(alarm, before);
        atomic_fetch_sub(sleepers, 1);
    }
    return 0;
}

int segment_collect(struct segment *segment)
{
    struct segment_map *map = segment->map;

    for (int i = 1; i < segment->n; i++)
        if (await(segment, &map->slots[i].arrived, &map->leader_sleeps, &map->arrivals))
            return -1;
    return 0;
}

int segment_await(struct segment *segment)
{
    struct segment_map *map = segment->map;

    return await(segment, &map->released, &map->sleepers, &map->released);
}

const char *segment_slot(const struct segment *segment, int member)
{
    return segment->map->slots[member].data;
}

pid_t segment_pid(const struct segment *segment, int member)
{
    return segment->map->slots[member].pid;
}

char *segment_area(const struct segment *segment)
{
    return segment->map->area;
}

void segment_release_all(struct segment *segment)
{
    struct segment_map *map = segment->map;

    atomic_store(&map->released, segment->turn);
    if (atomic_load(&map->sleepers) > 0)
        futex_wake(&map->released);
}

void segment_wake(struct segment *segment)
{
    if (!segment->map)
        return;
    futex_wake(&segment->map->released);
    futex_wake(&segment->map->arrivals);
}

void segment_publish_loss(struct segment *segment, int lost, const struct error *error)
{
    if (segment->map)
        watch_publish(&segment->map->notice, lost, error->code, error->text);
    segment_wake(segment);
}
