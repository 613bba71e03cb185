/* SPDX-License-Identifier: Apache-2.0 */
/* placement.h - the choice of nodes for a queued run */
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
    PLACEMENT_UNKNOWN,   /* too few suitable nodes are registered */
    PLACEMENT_IMPOSSIBLE /* the chosen nodes cannot do what the run requests */
};

struct placement {
    enum placement_outcome outcome;
    const char *backend; /* when READY: static or borrowed from the spec */
    struct node **nodes; /* READY: chosen, in rank order; else: all usable nodes */
    long *ranks;         /* READY: ranks per node */
    size_t n_nodes;
    size_t least;     /* number of nodes that suffices */
    char reason[512]; /* when not READY */
};

/* A node that is reserved for a run with precedence. */
struct reservation {
    bool is_kept;
    const char
        *run;     /* one that waits for more nodes; NULL: one that has all (borrowed) */
    size_t least; /* nodes that it waits for */
    int64_t until_ms; /* when the wait ends, by the wall clock; 0: never */
};

/* Choose nodes for `spec`. reserved[i] belongs to registry->nodes[i]; NULL: ignore
 * current use and reservations. Fills *placement; release it after use. */
void placement_choose(const struct run_spec *spec, const struct node_registry *registry,
                      const struct reservation *reserved, struct placement *placement);

/* Return whether both specs request the same nodes, so that placement_choose() gives both
 * the same result while these are missing or busy. */
bool placement_is_alike(const struct run_spec *a, const struct run_spec *b);

/* Return whether ringbench or some node has the run's backend, or a launcher has yet to
 * get the nodes. Return false after adding to *problems. */
bool placement_knows_backend(const struct node_registry *registry,
                             const struct run_spec *spec, struct problems *problems);

void placement_release(struct placement *placement);

#endif
