/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h - the ranks of one host meet in a shared segment of their leader
 *
 * The segment is an anonymous file (memfd) that the others open through /proc/PID/fd, so
 * nothing has a name that could be left behind. Each rank has one ready, and maps that of
 * its host's leader: as many mappings as ranks.
 *
 * An operation: each rank puts a few bytes into its slot and arrives, the leader waits
 * for all, puts bytes into the area that all read, and releases them. A rank that waits
 * spins a little and then sleeps on a futex. */
#ifndef RINGBENCH_WORKER_GROUP_SEGMENT_H
#define RINGBENCH_WORKER_GROUP_SEGMENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/worker/group/greeting.h"
#include "agent/worker/group/watch.h"
#include "common/base/error.h"

#define SEGMENT_SLOT_BYTES 3968
#define SEGMENT_AREA_BYTES 65536

struct segment_map;

struct segment {
    struct segment_map *map; /* the leader's */
    size_t map_len;
    int fd;      /* the own one */
    int n, self; /* ranks of the host, and which of them this is; 0: the leader */
    uint32_t turn;
    struct watch *watch;
};

/* Where a leader's segment is. */
struct segment_place {
    pid_t pid;
    int fd;
    unsigned char token[TOKEN_BYTES];
};

/* A segment of its own, with room for so many ranks. The token shows that the right file
 * was opened. */
int segment_create(struct segment *segment, int ranks,
                   const unsigned char token[TOKEN_BYTES], struct watch *watch,
                   struct error *err);
void segment_release(struct segment *segment);
/* Be member `self` of n. Member 0 leads: `leader` is its own place. */
int segment_join(struct segment *segment, const struct segment_place *leader, int n,
                 int self, struct error *err);

/* Arrive with `len` bytes (at most SEGMENT_SLOT_BYTES). */
void segment_arrive(struct segment *segment, const void *data, size_t len);
/* The leader: wait for all; then read their slots. */
int segment_collect(struct segment *segment);
const char *segment_slot(const struct segment *segment, int member);
pid_t segment_pid(const struct segment *segment, int member);
/* What the leader gives to all: it writes this, and releases them. */
char *segment_area(const struct segment *segment);
void segment_release_all(struct segment *segment);
/* The others: wait until the leader has released them; then read the area. */
int segment_await(struct segment *segment);

/* Any thread of the leader: tell all members of a loss. */
void segment_tell_loss(struct segment *segment, int lost, const struct error *error);
/* Any thread: wake this host's ranks to look at their watches. */
void segment_wake(struct segment *segment);

#endif
