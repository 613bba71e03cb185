/* exchange.h - how long the links of a topology take for exchanges between pairs of ranks
 * that are all under way at once: hypercube's rounds, alltoallv's traffic */
#ifndef RINGBENCH_WORKER_SIM_EXCHANGE_H
#define RINGBENCH_WORKER_SIM_EXCHANGE_H

#include <stdbool.h>

#include "agent/worker/sim/sim_topology.h"
#include "common/spec/traffic.h"

/* Microseconds for each rank to exchange `bytes` with the one whose number differs in the
 * bit `mask`; *crosses: whether some pair is on two nodes. */
double exchange_round_us(const struct sim_topology *topology, int mask, double bytes,
                         bool *crosses);

/* Microseconds for an alltoallv in which each rank sends `bytes` in all, or what the
 * matrix says. */
double exchange_traffic_us(const struct sim_topology *topology,
                           const struct traffic *traffic, double bytes);

#endif
