/* sim.h - the simulated backend: no bytes are moved, times come from a model
 *
 * What it answers about a result is what the collective would have left there, so the
 * check of the bench loop works, and finds what a test has spoiled. */
#ifndef RINGBENCH_WORKER_SIM_SIM_H
#define RINGBENCH_WORKER_SIM_SIM_H

#include "agent/worker/bench/backend.h"

extern const struct backend backend_sim;

#endif
