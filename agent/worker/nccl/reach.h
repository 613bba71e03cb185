/* SPDX-License-Identifier: Apache-2.0 */
/* reach.h - whether the nodes of a case reach each other where NCCL will try to
 *
 * NCCL tries for a minute where a connection is refused, and for an hour where packets
 * vanish. So before it is asked, one rank per node listens on the address that NCCL will
 * take there, and tries those of all other nodes, all at once. */
#ifndef RINGBENCH_WORKER_NCCL_REACH_H
#define RINGBENCH_WORKER_NCCL_REACH_H

#include "agent/worker/group/attempt.h"
#include "agent/worker/group/tree.h"
#include "common/base/error.h"

#define REACH_MS 3000 /* for a connection */

/* A collective call; every rank gets the same answer. node: this rank's, at most 63 bytes
 * of it count. ear: hears of this rank's own ways that do not go. */
int reach_check(struct tree *tree, const char *node, const struct attempt_ear *ear,
                struct error *err);

#endif
