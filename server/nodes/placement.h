/* placement.h - which nodes a waiting run gets */
#ifndef RINGBENCH_SERVER_NODES_PLACEMENT_H
#define RINGBENCH_SERVER_NODES_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>

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
    char reason[512]; /* when not READY */
};

/* Choose for `spec`. reserved[i] tells whether registry->nodes[i] is kept for an older
 * run; NULL: as if nobody used or kept any node. Fills *placement; release it after use.
 * -1 when memory is out. */
int placement_choose(const struct run_spec *spec, const struct node_registry *registry,
                     const bool *reserved, struct placement *placement);

void placement_release(struct placement *placement);

#endif
