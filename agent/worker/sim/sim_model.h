/* SPDX-License-Identifier: Apache-2.0 */
/* sim_model.h - a model of the time that a collective takes: latency and bandwidth per
 * algorithm, with less bandwidth to slow nodes, links or racks
 *
 * docs/reference/simulation.md, "The model", gives the formulas. Workers of the backend
 * sim and ringbench-sim use the same model. */
#ifndef RINGBENCH_WORKER_SIM_SIM_MODEL_H
#define RINGBENCH_WORKER_SIM_SIM_MODEL_H

#include <stdbool.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"
#include "agent/worker/sim/sim_params.h"

#define SIM_MEMORY_BYTES ((uint64_t)80 << 30) /* per rank */

/* The number of a node's rack, counted from 1; 0: none. */
typedef int sim_rack_fn(const void *arg, const char *node);

struct sim_node {
    const char *name;
    int rack;
    double factor;      /* factor on the bandwidth of the node's links */
    double rack_factor; /* factor on the bandwidth to other racks */
};

struct sim_link {
    int a, b; /* nodes */
    double factor;
};

struct sim_model {
    const struct sim_params *params;
    int n_ranks, n_nodes, n_links;
    int *node_of; /* [rank]: index in `nodes` */
    struct sim_node *nodes;
    struct sim_link *links; /* only the slow links */
    /* for each algorithm, the factor of its slowest link */
    double factor[SIM_ALGORITHMS];
    double case_factor; /* noise: factor on all times of the case */
    uint64_t seed;      /* seed for the noise within the case */
};

struct sim_estimate {
    enum sim_algorithm algorithm;
    /* true if NCCL_ALGO excludes the algorithm, but there is no other */
    bool is_unrequested;
    double us; /* HUGE_VAL: the collective never ends */
};

/* params and file are borrowed. rack NULL: nodes have no rack. Places of SIM_SLOW outside
 * the group are ignored, because they may be in another case. */
void sim_model_init(struct sim_model *model, const struct sim_params *params,
                    const struct case_file *file, int group, sim_rack_fn *rack,
                    const void *arg);
void sim_model_release(struct sim_model *model);

/* Return the size of a call: the bytes of its larger buffer. */
double sim_model_bytes(const struct sim_model *model, const struct backend_call *call);

/* HUGE_VAL if the algorithm does not support the collective. */
double sim_model_us(const struct sim_model *model, enum collective_kind kind,
                    double bytes, enum sim_algorithm algorithm);

/* Return the fastest algorithm that the parameters allow. */
struct sim_estimate sim_model_choose(const struct sim_model *model,
                                     enum collective_kind kind, double bytes);

void sim_model_describe(const struct sim_estimate *estimate, struct choice *out);

/* The time of `rank`. In sendrecv only the rank's two links count; otherwise it is the
 * estimate's time. */
double sim_model_rank_us(const struct sim_model *model, enum collective_kind kind,
                         double bytes, const struct sim_estimate *estimate, int rank);

/* True if the factor of the rank's node is 0, so that the rank hangs. */
bool sim_model_hangs(const struct sim_model *model, int rank);

#endif
