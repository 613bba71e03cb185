/* SPDX-License-Identifier: Apache-2.0 */
/* sim_comm.h - a rank of a simulated communicator, whose calls only spend time (inside
 * the simulated backend) */
#ifndef RINGBENCH_WORKER_SIM_SIM_COMM_H
#define RINGBENCH_WORKER_SIM_SIM_COMM_H

#include "agent/worker/bench/backend.h"
#include "agent/worker/sim/sim_model.h"

struct backend_comm {
    struct sim_params params;
    struct sim_model model;
    const struct case_file *file;
    int rank, world_rank; /* in the group and in the case */
    const atomic_int *stop;
    struct tree *tree;
    /* Simulated time. */
    double host_us;   /* since the communicator was made */
    double device_us; /* in calls, since the last isolated one */
    double debt_us;   /* still to be slept */
    uint64_t calls;
    bool in_batch, batch_waited;
    /* The last call's estimate, which the next one mostly needs again. */
    enum collective_kind kind;
    double bytes; /* negative: there was none */
    struct sim_estimate estimate;
    double own_us; /* of this rank, without a call's own noise */
    void *buffers; /* addresses that nothing may be read from */
    size_t buffer_bytes;
};

/* Spend the time of a call, noise and all; sleeps when enough has come together. */
int sim_comm_spend(struct backend_comm *comm, const struct backend_call *call,
                   struct error *err);

/* This rank comes late. */
int sim_comm_be_late(struct backend_comm *comm, long us, struct error *err);

/* Sleep what is due. */
int sim_comm_settle(struct backend_comm *comm, struct error *err);

/* Hang if nothing passes this rank's node, before its first call. */
int sim_comm_begin(struct backend_comm *comm, struct error *err);

/* How long calls take by the model's clock. */
extern const struct backend_timing sim_timing;

extern const struct backend backend_sim;

#endif
