/* SPDX-License-Identifier: Apache-2.0 */
/* shm_group.h - share memory among the ranks of one host: one segment per rank
 *
 * A segment is an anonymous file (memfd) that the other ranks open through /proc/PID/fd.
 * The file has no name, so a crash leaves nothing behind. The segment contains, in this
 * order: a head with the rank's line, two slots for small messages, a byte queue from
 * each local rank, and the user buffers.
 *
 * The line contains a sequence number that only its owner increments. In a barrier, a
 * rank increments its own number and waits until all other ranks' numbers have reached
 * the new value. The slots use the same sequence. */
#ifndef RINGBENCH_WORKER_GROUP_SHM_GROUP_H
#define RINGBENCH_WORKER_GROUP_SHM_GROUP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/worker/group/watch.h"
#include "common/base/error.h"

#define SHM_SLOT_BYTES 16384
#define SHM_NEAR_BYTES 56
#define SHM_QUEUE_BYTES 262144
#define SHM_TOKEN_BYTES 16

/* Aligned to two cache lines, because processors prefetch lines in pairs. */
struct shm_line {
    _Alignas(128) _Atomic uint64_t sequence;
    _Atomic uint64_t
        offsets[2]; /* the operation's buffers, as offsets in the data area */
};

struct shm_queue {
    _Alignas(128) _Atomic uint64_t head; /* total bytes read */
    _Alignas(128) _Atomic uint64_t tail; /* total bytes written */
    _Alignas(128) char data[SHM_QUEUE_BYTES];
};

/* A small message with its sequence number. A short message shares the number's cache
 * line, so that one transfer between cores moves both. */
struct shm_slot {
    _Alignas(128) _Atomic uint64_t sequence;
    char near[SHM_NEAR_BYTES];
    char far[SHM_SLOT_BYTES];
};

struct shm_head {
    unsigned char token[SHM_TOKEN_BYTES]; /* identifies the segment */
    struct shm_line line;
};

struct shm_peer {
    int rank;
    pid_t pid;
    int remote_fd;
    unsigned char token[SHM_TOKEN_BYTES];
    char *base; /* mapping of head, slots and queues */
    size_t base_len;
    struct shm_head *head;
    char *data; /* mapping of the user buffers, or NULL */
};

struct shm_group {
    int n, self;            /* number of members, and this process's position */
    struct shm_peer *peers; /* by position, in ascending order of ranks */
    struct watch *watch;
    int fd; /* this process's segment */
    uint64_t sequence;
    uint64_t slot_uses;
    size_t slot_len; /* message size of the current exchange */
    size_t data_offset, data_len;
};

/* Create this process's segment with its head only, to publish pid, fd and token. */
int shm_group_init(struct shm_group *group, struct watch *watch, struct error *err);
void shm_group_release(struct shm_group *group);
const unsigned char *shm_group_token(const struct shm_group *group);

/* Map the members' segments. A collective call. `peers` contains rank, pid, remote_fd and
 * token of all members, with this process at position `self`. Takes ownership of `peers`,
 * even on failure. */
int shm_group_join(struct shm_group *group, struct shm_peer *peers, int n, int self,
                   struct error *err);

/* Allocate a data area of len bytes for each member. All members map all areas. Call
 * once. A collective call. */
int shm_group_alloc(struct shm_group *group, size_t len, struct error *err);

/* Wait for all members. Afterwards each member sees the others' earlier writes. */
int shm_group_barrier(struct shm_group *group);

/* Exchange up to SHM_SLOT_BYTES with all members. Write this rank's part to the address
 * from shm_group_slot_begin. shm_group_slot_publish publishes the part and waits for all
 * other members, so an exchange is also a barrier. Then read the members' slots. A slot
 * stays valid during the next exchange and is reused by the one after. */
char *shm_group_slot_begin(struct shm_group *group, size_t len);
int shm_group_slot_publish(struct shm_group *group);
const char *shm_group_slot(const struct shm_group *group, int member);

/* The queue that `from` writes and `to` reads. */
struct shm_queue *shm_group_queue(const struct shm_group *group, int from, int to);

#endif
