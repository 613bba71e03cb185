/* sim.h - the simulated backend: no bytes are moved, times come from a model
 *
 * What it answers about a result is what the collective would have left there, so the
 * check of the bench loop works, and finds what a test has spoiled. */
#ifndef RINGBENCH_WORKER_SIM_SIM_H
#define RINGBENCH_WORKER_SIM_SIM_H

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/bench_state.h"
#include "agent/worker/sim/sim_topology.h"

extern const struct backend backend_sim;

/* What a simulated case is made from. */
struct sim_setting {
    const struct case_file *file; /* NULL: in tests */
    int world_size;
    char *const *environment; /* "SIM_...=...", ends with NULL */
    /* Optional: change what its links can carry. */
    void (*shape)(void *arg, struct sim_topology *topology);
    void *shape_arg;
};

/* All ranks of a case, for a bench that plays them (bench_state.h). The setting is
 * borrowed until sim_world_destroy, as is `stop`. */
struct sim_world;
struct sim_world *sim_world_create(const struct sim_setting *setting,
                                   const atomic_int *stop, struct error *err);
void sim_world_destroy(struct sim_world *world); /* NULL is fine */
struct bench_rank *sim_world_ranks(struct sim_world *world);

#endif
