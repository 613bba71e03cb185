/* SPDX-License-Identifier: Apache-2.0 */
/* reach.h - test whether all nodes reach each other at the addresses that NCCL will use
 *
 * NCCL retries for a minute if a connection is refused, and for an hour if packets are
 * dropped. Before NCCL starts, one rank per node therefore listens on the address that
 * NCCL will use there. This rank also connects to all other nodes' addresses at the same
 * time. */
#ifndef RINGBENCH_WORKER_NCCL_REACH_H
#define RINGBENCH_WORKER_NCCL_REACH_H

#include "agent/worker/group/attempt.h"
#include "agent/worker/group/tree.h"
#include "common/base/error.h"

#define REACH_MS 3000 /* limit for all connections */

/* A collective call; every rank gets the same result. node: this rank's node, of which 63
 * bytes are compared. observer: receives this rank's failed attempts. */
int reach_check(struct tree *tree, const char *node, int nccl_version,
                const struct attempt_observer *observer, struct error *err);

#endif
