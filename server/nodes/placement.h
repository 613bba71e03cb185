/* SPDX-License-Identifier: Apache-2.0 */
/* placement.h - chooses nodes for a queued run */
#ifndef RINGBENCH_SERVER_NODES_PLACEMENT_H
#define RINGBENCH_SERVER_NODES_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/problem.h"
#include "common/spec/run_spec.h"
#include "server/nodes/node.h"

enum placement_outcome {
    PLACEMENT_READY,     /* the run's nodes are chosen */
    PLACEMENT_BUSY,      /* enough nodes exist, but others use or reserve them */
    PLACEMENT_UNKNOWN,   /* too few suitable nodes are registered */
    PLACEMENT_IMPOSSIBLE /* the chosen nodes cannot do what the run requests */
};

struct placement {
    enum placement_outcome outcome;
    const char *backend; /* when READY: static or borrowed from the spec */
    struct node **nodes; /* READY: chosen, in rank order; else: all usable nodes */
    long *ranks;         /* READY: number of ranks on each chosen node */
    size_t n_nodes;
    size_t least;     /* minimum number of nodes that the run needs */
    char reason[512]; /* not READY: the reason */
};

/* The reservation of a node for a run that is ahead in the queue. */
struct reservation {
    bool is_kept;
    /* ID of a run that waits for more nodes, borrowed; NULL: the run has its nodes */
    const char *run;
    size_t least;     /* minimum number of nodes that the waiting run needs */
    int64_t until_ms; /* wall-clock time when the run's wait ends; 0: no limit */
};

/* Choose nodes for `spec`. reserved[i] belongs to registry->nodes[i]; NULL: ignore
 * current use and reservations. Fills *placement; release it after use. */
void placement_choose(const struct run_spec *spec, const struct node_registry *registry,
                      const struct reservation *reserved, struct placement *placement);

/* Return true if both specs request the same nodes. While these are missing or busy,
 * placement_choose() gives both specs the same result. */
bool placement_is_alike(const struct run_spec *a, const struct run_spec *b);

/* Return true if the run's backend is nccl, host or sim, or is offered by a node, or if a
 * launcher must first start the nodes. Otherwise add the error to *problems and return
 * false. */
bool placement_knows_backend(const struct node_registry *registry,
                             const struct run_spec *spec, struct problems *problems);

void placement_release(struct placement *placement);

#endif
