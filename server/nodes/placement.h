/* SPDX-License-Identifier: Apache-2.0 */
/* placement.h - which nodes a waiting run gets */
#ifndef RINGBENCH_SERVER_NODES_PLACEMENT_H
#define RINGBENCH_SERVER_NODES_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/problem.h"
#include "common/spec/run_spec.h"
#include "server/nodes/node.h"

enum placement_outcome {
    PLACEMENT_READY,     /* nodes are chosen */
    PLACEMENT_BUSY,      /* enough nodes exist, but others use or reserve them */
    PLACEMENT_UNKNOWN,   /* not enough nodes are registered that could do it */
    PLACEMENT_IMPOSSIBLE /* the chosen nodes can't do what the run asks */
};

struct placement {
    enum placement_outcome outcome;
    const char *backend; /* when READY: static or borrowed from the spec */
    struct node **nodes; /* READY: the chosen, in rank order; else: all it could use */
    long *ranks;         /* READY: ranks per node */
    size_t n_nodes;
    size_t least;     /* nodes that will do */
    char reason[512]; /* when not READY */
};

/* A node that is kept for a run which is served first. */
struct reservation {
    bool is_kept;
    const char
        *run;     /* one that waits for more nodes; NULL: one that has all (borrowed) */
    size_t least; /* nodes that it waits for */
    int64_t until_ms; /* when it gives up, by the wall clock; 0: it does not */
};

/* Choose for `spec`. reserved[i] is of registry->nodes[i]; NULL: as if nobody used or
 * kept any node. Fills *placement; release it after use. */
void placement_choose(const struct run_spec *spec, const struct node_registry *registry,
                      const struct reservation *reserved, struct placement *placement);

/* Whether both ask for the same nodes: while these are missing or busy, placement_choose
 * says the same of both. */
bool placement_is_alike(const struct run_spec *a, const struct run_spec *b);

/* Whether ringbench or some node has the run's backend, or a launcher is yet to get the
 * nodes. False after adding to *problems. */
bool placement_knows_backend(const struct node_registry *registry,
                             const struct run_spec *spec, struct problems *problems);

void placement_release(struct placement *placement);

#endif
