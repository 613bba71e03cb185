/* SPDX-License-Identifier: Apache-2.0 */
/* shm_group.h - the ranks of one host: a shared segment each, mapped by all of them
 *
 * A segment is an anonymous file (memfd) that the others open through /proc/PID/fd, so
 * nothing has a name that could be left behind. It holds, in this order: a head with the
 * rank's line, two slots for small messages, a byte queue from every local rank, and the
 * user buffers.
 *
 * The line carries a sequence number that only its owner raises; a barrier raises it and
 * waits until every other one has come as far. The slots carry numbers of the same count.
 */
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

/* Two cache lines: processors fetch them in pairs. */
struct shm_line {
    _Alignas(128) _Atomic uint64_t sequence;
    _Atomic uint64_t offsets[2]; /* of the operation's buffers, in the data area */
};

struct shm_queue {
    _Alignas(128) _Atomic uint64_t head; /* bytes ever taken out */
    _Alignas(128) _Atomic uint64_t tail; /* bytes ever put in */
    _Alignas(128) char data[SHM_QUEUE_BYTES];
};

/* A small message and the sequence number that says which one it is. Short ones lie on
 * the number's own cache line, so that a single transfer between cores brings both. */
struct shm_slot {
    _Alignas(128) _Atomic uint64_t sequence;
    char near[SHM_NEAR_BYTES];
    char far[SHM_SLOT_BYTES];
};

struct shm_head {
    unsigned char token[SHM_TOKEN_BYTES]; /* proves that the right file was opened */
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
    int n, self;            /* members, and which one this process is */
    struct shm_peer *peers; /* by position in the group, ascending ranks */
    struct watch *watch;
    int fd; /* own segment */
    uint64_t sequence;
    uint64_t slot_uses;
    size_t slot_len; /* of the exchange under way */
    size_t data_offset, data_len;
};

/* Make the own segment, just its head, so that its pid, fd and token can be published. */
int shm_group_init(struct shm_group *group, struct watch *watch, struct error *err);
void shm_group_release(struct shm_group *group);
const unsigned char *shm_group_token(const struct shm_group *group);

/* Map the members' segments. `peers` (taken over, also on failure) has rank, pid,
 * remote_fd and token of all, this process at position `self`. A collective call. */
int shm_group_join(struct shm_group *group, struct shm_peer *peers, int n, int self,
                   struct error *err);

/* Give every member a data area of len bytes; mapped by all. Once; collective. */
int shm_group_alloc(struct shm_group *group, size_t len, struct error *err);

/* All members have come here, and see what the others wrote before. */
int shm_group_barrier(struct shm_group *group);

/* Exchange up to SHM_SLOT_BYTES with all members: write the own part to what
 * shm_group_slot_begin returns, publish it (which waits for everyone's), read the
 * members' slots. It is a barrier, too. A slot stays as it is until the exchange after
 * the next. */
char *shm_group_slot_begin(struct shm_group *group, size_t len);
int shm_group_slot_publish(struct shm_group *group);
const char *shm_group_slot(const struct shm_group *group, int member);

/* The queue that `from` writes and `to` reads. */
struct shm_queue *shm_group_queue(const struct shm_group *group, int from, int to);

#endif
