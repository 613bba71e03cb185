/* SPDX-License-Identifier: Apache-2.0 */
/* shm_group.c - share memory among the ranks of one host: one segment per rank */
#include "agent/worker/group/shm_group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/base/memory.h"

#define PAGE 4096u
#define HEAD_BYTES PAGE
#define QUEUES_OFFSET (HEAD_BYTES + 2 * sizeof(struct shm_slot))
#define DATA_ALIGN (2u << 20)
/* naps while waiting for the notice of a loss: at least 0.5 s in total */
#define NEWS_NAPS 5000

_Static_assert(sizeof(struct shm_head) <= HEAD_BYTES, "the head must fit its page");

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

int shm_group_init(struct shm_group *group, struct watch *watch, struct error *err)
{
    unsigned char token[SHM_TOKEN_BYTES];

    memset(group, 0, sizeof(*group));
    group->watch = watch;
    group->fd = memfd_create("ringbench", MFD_CLOEXEC);
    if (group->fd < 0 || ftruncate(group->fd, HEAD_BYTES))
        return error_set_errno(err, ERROR_IO, errno, "cannot create a shared segment");
    if (getrandom(token, sizeof(token), 0) != (ssize_t)sizeof(token) ||
        pwrite(group->fd, token, sizeof(token), 0) != (ssize_t)sizeof(token))
        return error_set_errno(err, ERROR_IO, errno,
                               "cannot write the shared segment's token");
    group->peers = memory_zeroed(1, sizeof(*group->peers), "shared segment");
    group->n = 1;
    memcpy(group->peers[0].token, token, sizeof(token));
    return 0;
}

void shm_group_release(struct shm_group *group)
{
    for (int i = 0; i < group->n; i++) {
        struct shm_peer *peer = &group->peers[i];
        if (peer->base)
            munmap(peer->base, peer->base_len);
        if (peer->data)
            munmap(peer->data, group->data_len);
    }
    free(group->peers);
    group->peers = NULL;
    group->n = 0;
    if (group->fd >= 0) {
        close(group->fd);
        group->fd = -1;
    }
}

const unsigned char *shm_group_token(const struct shm_group *group)
{
    return group->peers[group->self].token;
}

/* A dying process closes its files before its peers notice the death, so wait for the
 * notice. */
static bool is_peer_lost(struct watch *watch)
{
    for (int i = 0; i < NEWS_NAPS; i++) {
        if (watch_check(watch))
            return true;
        watch_nap();
    }
    return false;
}

/* The caller closes the returned descriptor. */
static int open_segment(const struct shm_group *group, int member, struct error *err)
{
    const struct shm_peer *peer = &group->peers[member];
    char path[64];

    if (member == group->self) {
        int fd = fcntl(group->fd, F_DUPFD_CLOEXEC, 0);
        return fd < 0 ? error_set_errno(err, ERROR_IO, errno,
                                        "cannot duplicate a segment's descriptor")
                      : fd;
    }
    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)peer->pid, peer->remote_fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        int failure = errno;
        if (is_peer_lost(group->watch))
            return watch_reason(group->watch, err);
        return error_set_errno(err, ERROR_PEER, failure,
                               "cannot open the shared segment of rank %d (%s)",
                               peer->rank, path);
    }
    return fd;
}

static char *map_part(const struct shm_group *group, int member, size_t offset,
                      size_t len, int populate, struct error *err)
{
    int fd = open_segment(group, member, err);
    if (fd < 0)
        return NULL;
    /* With MAP_POPULATE no page fault happens inside a timed call. */
    void *at =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | populate, fd, (off_t)offset);
    int failure = errno;
    close(fd);
    if (at == MAP_FAILED) {
        error_set_errno(err, ERROR_MEMORY, failure,
                        "cannot map %zu bytes of rank %d's segment", len,
                        group->peers[member].rank);
        return NULL;
    }
    return at;
}

static int map_member(struct shm_group *group, int member, struct error *err)
{
    struct shm_peer *peer = &group->peers[member];

    peer->base = map_part(group, member, 0, group->data_offset, 0, err);
    if (!peer->base)
        return -1;
    peer->base_len = group->data_offset;
    peer->head = (struct shm_head *)(void *)peer->base;
    if (memcmp(peer->head->token, peer->token, sizeof(peer->token)) != 0) {
        return error_set(err, ERROR_PEER,
                         "the opened file is not the shared segment of rank %d",
                         peer->rank);
    }
    return 0;
}

int shm_group_join(struct shm_group *group, struct shm_peer *peers, int n, int self,
                   struct error *err)
{
    free(group->peers);
    group->peers = peers;
    group->n = n;
    group->self = self;
    group->data_offset =
        round_up(QUEUES_OFFSET + (size_t)n * sizeof(struct shm_queue), DATA_ALIGN);
    if (ftruncate(group->fd, (off_t)group->data_offset))
        return error_set_errno(err, ERROR_MEMORY, errno, "cannot grow a shared segment");
    for (int i = 0; i < n; i++)
        if (map_member(group, i, err))
            return -1;
    if (shm_group_barrier(group))
        return watch_reason(group->watch, err);
    return 0;
}

int shm_group_alloc(struct shm_group *group, size_t len, struct error *err)
{
    int failure;

    group->data_len = round_up(len, PAGE);
    if (ftruncate(group->fd, (off_t)(group->data_offset + group->data_len)))
        return error_set_errno(err, ERROR_MEMORY, errno,
                               "cannot add the buffers to a shared segment");
    /* Allocate the pages now: running out of memory later would raise SIGBUS. */
    do {
        failure =
            fallocate(group->fd, 0, (off_t)group->data_offset, (off_t)group->data_len)
                ? errno
                : 0;
    } while (failure == EINTR);
    if (failure) {
        return error_set_errno(err, ERROR_MEMORY, failure,
                               "cannot allocate %zu bytes of shared buffers",
                               group->data_len);
    }
    if (shm_group_barrier(group))
        return watch_reason(group->watch, err);
    for (int i = 0; i < group->n; i++) {
        group->peers[i].data =
            map_part(group, i, group->data_offset, group->data_len, MAP_POPULATE, err);
        if (!group->peers[i].data)
            return -1;
    }
    return 0;
}

static int wait_for(struct shm_group *group, _Atomic uint64_t *theirs)
{
    struct watch_idle idle = {0};

    while (atomic_load_explicit(theirs, memory_order_acquire) < group->sequence) {
        /* The peer may have arrived before its process ended. */
        if (watch_idle(group->watch, &idle)) {
            bool has_come =
                atomic_load_explicit(theirs, memory_order_acquire) >= group->sequence;
            return has_come ? 0 : -1;
        }
    }
    return 0;
}

int shm_group_barrier(struct shm_group *group)
{
    atomic_store_explicit(&group->peers[group->self].head->line.sequence,
                          ++group->sequence, memory_order_release);
    for (int i = 0; i < group->n; i++)
        if (wait_for(group, &group->peers[i].head->line.sequence))
            return -1;
    return 0;
}

static struct shm_slot *slot_of(const struct shm_group *group, int member)
{
    char *slots = group->peers[member].base + HEAD_BYTES;
    return (struct shm_slot *)(void *)slots + (group->slot_uses & 1);
}

static char *slot_data(struct shm_slot *slot, size_t len)
{
    return len <= SHM_NEAR_BYTES ? slot->near : slot->far;
}

char *shm_group_slot_begin(struct shm_group *group, size_t len)
{
    group->slot_uses++;
    group->slot_len = len;
    return slot_data(slot_of(group, group->self), len);
}

int shm_group_slot_publish(struct shm_group *group)
{
    atomic_store_explicit(&slot_of(group, group->self)->sequence, ++group->sequence,
                          memory_order_release);
    for (int i = 0; i < group->n; i++)
        if (wait_for(group, &slot_of(group, i)->sequence))
            return -1;
    return 0;
}

const char *shm_group_slot(const struct shm_group *group, int member)
{
    return slot_data(slot_of(group, member), group->slot_len);
}

struct shm_queue *shm_group_queue(const struct shm_group *group, int from, int to)
{
    char *base = group->peers[to].base + QUEUES_OFFSET;
    return (struct shm_queue *)(void *)base + from;
}
