/* SPDX-License-Identifier: Apache-2.0 */
/* sim_comm.h - a rank of a simulated communicator, whose calls only take time (internal
 * to the backend) */
#ifndef RINGBENCH_WORKER_SIM_SIM_COMM_H
#define RINGBENCH_WORKER_SIM_SIM_COMM_H

#include "agent/worker/bench/backend.h"
#include "agent/worker/sim/sim_model.h"

struct backend_comm {
    struct sim_params params;
    struct sim_model model;
    const struct case_file *file;
    int rank, world_rank; /* this rank's number in the group and in the case */
    const atomic_int *stop;
    struct tree *tree;
    /* Simulated time. */
    double host_us;   /* the rank's clock, since the communicator was created */
    double device_us; /* time spent in calls since the last isolated call began */
    double debt_us;   /* real time that the rank still has to sleep */
    uint64_t calls;
    bool in_batch, batch_waited;
    /* Cache of the last call, because the next call is usually the same. */
    enum collective_kind kind;
    double bytes; /* negative: no call yet */
    struct sim_estimate estimate;
    double own_us; /* this rank's time per call, without the noise of a single call */
    void *buffers; /* reserved addresses; any access fails */
    size_t buffer_bytes;
};

/* Spend the time of a call, with noise. Sleep once enough time is owed. */
int sim_comm_spend(struct backend_comm *comm, const struct backend_call *call,
                   struct error *err);

int sim_comm_be_late(struct backend_comm *comm, long us, struct error *err);

/* Sleep for the time that is still owed. */
int sim_comm_settle(struct backend_comm *comm, struct error *err);

/* Before a submission: hang if SIM_SLOW blocks this rank's node completely. */
int sim_comm_begin(struct backend_comm *comm, struct error *err);

extern const struct backend_timing sim_timing;

extern const struct backend backend_sim;

#endif
