/* reserve.h - one look at the queue: nodes for one waiting run after the other, without
 * those that are kept for a run which is served first */
#ifndef RINGBENCH_SERVER_RUNS_RESERVE_H
#define RINGBENCH_SERVER_RUNS_RESERVE_H

#include <stddef.h>

#include "server/nodes/placement.h"

struct run;

/* A run that got no nodes: so do those like it, until more nodes are kept. */
struct reserve_refusal {
    const struct run_spec *spec; /* borrowed */
    size_t n_kept;               /* nodes that were kept then */
    enum placement_outcome outcome;
    char *reason;
};

struct reserve {
    const struct node_registry *registry;
    struct reservation *nodes; /* one per node of the registry, and one to spare */
    size_t n_kept;
    struct reserve_refusal *refusals;
    size_t n_refusals, capacity;
};

void reserve_begin(struct reserve *reserve, const struct node_registry *registry);

/* The nodes of a placed run are its own, also when no case occupies them. */
void reserve_pool(struct reserve *reserve, const struct run *run);

/* Choose nodes for a waiting run. Call for the runs in the order in which they are
 * served, and release the placement. It has no nodes where an earlier run that is alike
 * got the same refusal. */
void reserve_choose(struct reserve *reserve, const struct run_spec *spec,
                    struct placement *placement);

/* Keep what was chosen for the run, or what it waits for until then, unless it is kept
 * already. */
void reserve_keep(struct reserve *reserve, const struct run *run, int64_t waits_until_ms,
                  const struct placement *placement);

void reserve_end(struct reserve *reserve);

#endif
