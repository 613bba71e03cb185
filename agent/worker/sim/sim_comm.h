/* sim_comm.h - a simulated communicator (inside the simulated backend) */
#ifndef RINGBENCH_WORKER_SIM_SIM_COMM_H
#define RINGBENCH_WORKER_SIM_SIM_COMM_H

#include <stdbool.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/sim/hub.h"
#include "agent/worker/sim/sim_model.h"
#include "agent/worker/sim/sim_params.h"
#include "agent/worker/sim/sim_topology.h"

/* Simulated time of one rank. */
struct sim_clock {
    double host_us;   /* since the communicator was made */
    double device_us; /* of operations, since the timer was started */
    double debt_us;   /* really to be slept */
};

struct backend_comm {
    int rank, world_size; /* of the communicator */
    int world_rank, group;
    const atomic_int *stop;
    struct hub *hub;
    struct sim_params params;
    struct sim_topology topology;
    struct sim_model model;
    struct sim_clock clock;
    /* Whom a test makes late, and by how much at each operation; -1: nobody. */
    int late_rank;
    double late_us;
    /* Of the noise. */
    uint64_t seed, calls;
    double case_noise; /* a factor */
    unsigned started;  /* collectives called before, a bit mask */
    bool in_batch, batch_waited;
    /* The last call's estimate, which the next one mostly needs again. */
    struct sim_call call;
    struct sim_estimate estimate;
    double own_us; /* of this rank, without a call's own noise */
    bool has_estimate;
    /* The buffers: addresses that nothing may be read from. */
    void *buffers;
    size_t buffer_bytes;
    /* What is "in" the receive buffer: a result of this pattern, but for one element. */
    const struct pattern *pattern;
    struct backend_call result;
    const char *spoiled_at; /* NULL: none */
    size_t spoiled_len;
    unsigned char spoiled[8];
};

/* Spend the time of a call on the clock, noise and all; sleeps when enough has come
 * together. */
int sim_comm_spend(struct backend_comm *comm, const struct backend_call *call,
                   struct error *err);
/* This rank comes late. */
int sim_comm_be_late(struct backend_comm *comm, double us, struct error *err);
/* Sleep what is due. */
int sim_comm_settle(struct backend_comm *comm, struct error *err);

#endif
