/* sim_model.h - what a collective takes: latency and bandwidth per algorithm and protocol
 *
 * Source of formulas and constants: NCCL 2.28.9, src/graph/tuning.cc. What differs, and
 * what NCCL has no model for, is in docs/simulation.md. */
#ifndef RINGBENCH_WORKER_SIM_SIM_MODEL_H
#define RINGBENCH_WORKER_SIM_SIM_MODEL_H

#include <stdbool.h>

#include "agent/worker/sim/sim_params.h"
#include "agent/worker/sim/sim_topology.h"
#include "common/spec/collective.h"
#include "common/spec/traffic.h"

struct sim_model {
    const struct sim_params *params;
    const struct sim_topology *topology;
    double bus_gbs[SIM_ALGORITHMS]; /* of the slowest link that the algorithm uses */
    const struct traffic *traffic;  /* of alltoallv; NULL: as if all parts were alike */
    double alltoall_gbs;            /* message size by time, of the slowest link */
};

struct sim_call {
    enum collective_kind kind;
    double bytes; /* the larger buffer: "size" of a row */
    int root;     /* or -1 */
};

struct sim_estimate {
    enum sim_algorithm algorithm;
    enum sim_protocol protocol;
    double latency_us;
    double gbs; /* us = latency_us + bytes / (1000 gbs) */
    double us;
};

/* Both are borrowed. */
void sim_model_init(struct sim_model *model, const struct sim_params *params,
                    const struct sim_topology *topology);

/* One way to do it; false when it is not a way to do this collective here. */
bool sim_model_estimate(const struct sim_model *model, const struct sim_call *call,
                        enum sim_algorithm algorithm, enum sim_protocol protocol,
                        struct sim_estimate *out);

/* The fastest of those that the parameters allow; if none is, of all. */
struct sim_estimate sim_model_choose(const struct sim_model *model,
                                     const struct sim_call *call);

/* What `rank` takes: the estimate, but in sendrecv its own two links count. */
double sim_model_rank_us(const struct sim_model *model, const struct sim_call *call,
                         const struct sim_estimate *estimate, int rank);

/* Whether `rank` cannot finish a call before `other` takes part. */
bool sim_model_waits_for(const struct sim_call *call, int n_ranks, int rank, int other);

#endif
