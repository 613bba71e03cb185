/* snapshots.h - what a run's nodes said of themselves when it was placed, kept in the
 * store for as long as the run */
#ifndef RINGBENCH_SERVER_RUNS_SNAPSHOTS_H
#define RINGBENCH_SERVER_RUNS_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "server/nodes/node.h"
#include "server/runs/run.h"

struct store;

/* Store the inventories of some of the run's nodes, from number *next on. False: that was
 * the last. No call takes long, so that many nodes take many turns of the loop. */
bool snapshots_keep(struct store *store, const struct node_registry *nodes,
                    const struct run *run, size_t *next);

#endif
