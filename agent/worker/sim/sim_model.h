/* SPDX-License-Identifier: Apache-2.0 */
/* sim_model.h - how long a collective takes: a latency and a bandwidth per algorithm,
 * less bandwidth where a node, a link or a rack is slow
 *
 * docs/reference/simulation.md, "The model", has the formulas. The workers of the backend
 * sim and ringbench-sim both compute their times here. */
#ifndef RINGBENCH_WORKER_SIM_SIM_MODEL_H
#define RINGBENCH_WORKER_SIM_SIM_MODEL_H

#include <stdbool.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"
#include "agent/worker/sim/sim_params.h"

#define SIM_MEMORY_BYTES ((uint64_t)80 << 30) /* of a rank */

/* The number of a node's rack, from 1, or 0. */
typedef int sim_rack_fn(const void *arg, const char *node);

struct sim_node {
    const char *name;
    int rack;
    double factor;      /* on what its links carry */
    double rack_factor; /* likewise, to other racks */
};

struct sim_link {
    int a, b; /* nodes */
    double factor;
};

/* The ranks of one group of a case. */
struct sim_model {
    const struct sim_params *params;
    int n_ranks, n_nodes, n_links;
    int *node_of; /* by rank */
    struct sim_node *nodes;
    struct sim_link *links;        /* slow ones */
    double factor[SIM_ALGORITHMS]; /* of the slowest link that it uses */
    double case_factor;            /* of the noise: on all times of the case */
    uint64_t seed;                 /* of the noise within the case */
};

struct sim_estimate {
    enum sim_algorithm algorithm;
    bool is_unrequested; /* NCCL_ALGO leaves it out, but there is no other way */
    double us;           /* HUGE_VAL: never */
};

/* Both are borrowed; rack NULL: nodes have none. Places in SIM_SLOW that are not in the
 * group are left out: they may be in another case. */
void sim_model_init(struct sim_model *model, const struct sim_params *params,
                    const struct case_file *file, int group, sim_rack_fn *rack,
                    const void *arg);
void sim_model_release(struct sim_model *model);

/* The size of a call: its larger buffer. */
double sim_model_bytes(const struct sim_model *model, const struct backend_call *call);

/* One way to do it; HUGE_VAL where the algorithm does not do that collective. */
double sim_model_us(const struct sim_model *model, enum collective_kind kind,
                    double bytes, enum sim_algorithm algorithm);

/* The fastest of those that the parameters allow. */
struct sim_estimate sim_model_choose(const struct sim_model *model,
                                     enum collective_kind kind, double bytes);

/* As a row has it. */
void sim_model_describe(const struct sim_estimate *estimate, struct choice *out);

/* What `rank` takes: the estimate, but in sendrecv only its own two links count. */
double sim_model_rank_us(const struct sim_model *model, enum collective_kind kind,
                         double bytes, const struct sim_estimate *estimate, int rank);

/* Whether nothing passes the rank's node, so that it takes no part. */
bool sim_model_hangs(const struct sim_model *model, int rank);

#endif
