/* hub.h - a control plane for many ranks: each has one connection, to rank 0
 *
 * A mesh needs n^2 connections, or n^2 mappings of shared memory; this needs n. Nobody
 * spins: hundreds of ranks may share a core. A rank that dies is noticed by rank 0, and
 * the others by its leaving; first_failure.h tells them whom to name. One thread. A call
 * that fails has latched the reason, and all later calls fail likewise. */
#ifndef RINGBENCH_WORKER_SIM_HUB_H
#define RINGBENCH_WORKER_SIM_HUB_H

#include <stddef.h>

#include "agent/worker/group/join.h"
#include "common/base/error.h"

struct hub;

/* Rank 0 publishes ringbench/hub in the store, the others connect. Collective. */
struct hub *hub_create(const struct join_config *config, struct error *err);

/* If nothing failed, wait (at most 5 s) until all are here too. NULL is fine. */
void hub_destroy(struct hub *hub);
/* Without waiting. */
void hub_abort(struct hub *hub);

int hub_barrier(struct hub *hub, struct error *err);
/* `len` bytes of each rank, by rank; all: world_size * len bytes. */
int hub_allgather(struct hub *hub, const void *mine, size_t len, void *all,
                  struct error *err);

/* The rank whose loss made a call fail, or -1. */
int hub_lost(const struct hub *hub);

#endif
