/* sim_comm.h - a simulated communicator (inside the simulated backend)
 *
 * What its ranks have in common stands apart from what each has of its own, so that one
 * process can play them all. */
#ifndef RINGBENCH_WORKER_SIM_SIM_COMM_H
#define RINGBENCH_WORKER_SIM_SIM_COMM_H

#include <stdbool.h>

#include "agent/worker/bench/watchdog.h"
#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"
#include "agent/worker/sim/sim_model.h"
#include "agent/worker/sim/sim_params.h"
#include "agent/worker/sim/sim_topology.h"

/* Simulated time of one rank. */
struct sim_clock {
    double host_us;   /* since the communicator was made */
    double device_us; /* of operations, since the timer was started */
    double debt_us;   /* really to be slept */
};

/* From this time of a rank's clock on all takes so many times as long. */
#define SIM_CHANGES_MAX 16
struct sim_change {
    double at_us, factor;
};

/* Of all ranks of a communicator. */
struct sim_shared {
    int world_size, group;
    struct sim_params params;
    struct sim_topology topology;
    struct sim_model model;
    /* What a test has a rank of it do wrong; faulty: its place, -1: nobody. */
    struct fault fault;
    int faulty;
    /* Of the noise. */
    uint64_t seed;
    double case_noise; /* a factor, the run's included */
    struct sim_change changes[SIM_CHANGES_MAX];
    int n_changes;
    /* The last call's estimate, which the next one mostly needs again. */
    struct sim_call call;
    struct sim_estimate estimate;
    double row_noise; /* a factor */
    uint64_t estimates;
};

struct backend_comm {
    struct sim_shared *shared;
    int rank, world_rank;
    const atomic_int *stop;
    struct tree *tree; /* NULL: all ranks are in this process */
    struct watchdog *watchdog;
    double sleep_fraction; /* 0 where another rank of the process sleeps for this one */
    struct sim_clock clock;
    uint64_t calls;   /* of the noise */
    unsigned started; /* collectives called before, a bit mask */
    bool in_batch, batch_waited;
    double own_us; /* of this rank at estimate `estimated`, without a call's own noise */
    uint64_t estimated;
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

/* What the ranks of group `group` have in common; the setting is borrowed. */
struct sim_setting;
struct sim_shared *sim_shared_create(const struct sim_setting *setting, int group,
                                     struct error *err);
void sim_shared_destroy(struct sim_shared *shared); /* NULL is fine */

/* Rank `place` of them, without a tree; NULL: out of memory. With a tree it owns what it
 * shares. */
struct backend_comm *sim_comm_create(struct sim_shared *shared, int place, int world_rank,
                                     const atomic_int *stop);
void sim_comm_release(struct backend_comm *comm);

/* Spend the time of a call on the clock, noise and all; sleeps when enough has come
 * together. */
int sim_comm_spend(struct backend_comm *comm, const struct backend_call *call,
                   struct error *err);
/* This rank comes late. */
int sim_comm_be_late(struct backend_comm *comm, double us, struct error *err);
/* Sleep what is due. */
int sim_comm_settle(struct backend_comm *comm, struct error *err);

/* How long calls take by the model's clock. */
extern const struct backend_timing sim_timing;

#endif
