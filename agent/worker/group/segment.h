/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h - synchronize the ranks of one host in a shared segment of their leader
 *
 * The segment is an anonymous file (memfd) that the other ranks open through
 * /proc/PID/fd. The file has no name, so a crash leaves nothing behind. Each rank creates
 * a segment, because the leader is not known yet, but maps only the leader's segment.
 *
 * In an operation each rank writes a few bytes into its slot and arrives. The leader
 * waits for all ranks, writes the result into the common area and releases the other
 * ranks. A waiting rank spins briefly and then sleeps on a futex. */
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
    struct segment_map *map; /* mapping of the leader's segment */
    size_t map_len;
    int fd; /* descriptor of this rank's own segment */
    /* number of ranks on this host, and this rank's index; 0: the leader */
    int n, self;
    uint32_t turn; /* number of operations so far */
    struct watch *watch;
};

struct segment_place {
    pid_t pid;
    int fd;
    unsigned char token[TOKEN_BYTES];
};

/* Create this rank's segment with room for `ranks`. Joining ranks verify the token. */
int segment_create(struct segment *segment, int ranks,
                   const unsigned char token[TOKEN_BYTES], struct watch *watch,
                   struct error *err);
void segment_release(struct segment *segment);
/* Join as member `self` of n. For member 0, the leader, `leader` is its own place. */
int segment_join(struct segment *segment, const struct segment_place *leader, int n,
                 int self, struct error *err);

/* Arrive with `len` bytes (at most SEGMENT_SLOT_BYTES). */
void segment_arrive(struct segment *segment, const void *data, size_t len);
/* Leader: wait until all members have arrived. Then read their slots. */
int segment_collect(struct segment *segment);
const char *segment_slot(const struct segment *segment, int member);
pid_t segment_pid(const struct segment *segment, int member);
/* Leader: write the result to the area. Then release all members. */
char *segment_area(const struct segment *segment);
void segment_release_all(struct segment *segment);
/* Other members: wait for the release. Then read the area. */
int segment_await(struct segment *segment);

/* Leader, any thread: publish the loss of a rank to all members. */
void segment_publish_loss(struct segment *segment, int lost, const struct error *error);
/* Any thread: wake this host's ranks, so that they check for losses. */
void segment_wake(struct segment *segment);

#endif
