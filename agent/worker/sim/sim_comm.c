/* sim_comm.c - how simulated time passes */
#include "agent/worker/sim/sim_comm.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "agent/worker/sim/noise_parts.h"

#define DEBT_US 2000      /* sleeps are not shorter: each is late by some 50 us */
#define SLICE_US 100000.0 /* nor longer, to heed a stop */

static bool is_same(const struct sim_call *a, const struct sim_call *b)
{
    return a->kind == b->kind && a->root == b->root && !(a->bytes < b->bytes) &&
           !(a->bytes > b->bytes);
}

static void estimate(struct backend_comm *comm, const struct sim_call *call)
{
    struct sim_shared *shared = comm->shared;

    if (shared->estimates == 0 || !is_same(&shared->call, call)) {
        shared->estimates++;
        shared->call = *call;
        shared->estimate = sim_model_choose(&shared->model, call);
        shared->row_noise = noise_of_row(&shared->params, shared->seed, call);
    }
    if (comm->estimated == shared->estimates)
        return;
    comm->estimated = shared->estimates;
    comm->own_us =
        sim_model_rank_us(&shared->model, call, &shared->estimate, comm->rank) *
        shared->case_noise * shared->row_noise;
}

/* By the last change that has come. */
static double changed(const struct backend_comm *comm)
{
    const struct sim_shared *shared = comm->shared;
    double factor = 1;

    for (int i = 0; i < shared->n_changes; i++)
        if (comm->clock.host_us >= shared->changes[i].at_us)
            factor = shared->changes[i].factor;
    return factor;
}

static bool waits_for_faulty(const struct backend_comm *comm, const struct sim_call *call)
{
    const struct sim_shared *shared = comm->shared;

    return shared->faulty >= 0 && shared->faulty != comm->rank &&
           sim_model_waits_for(call, shared->world_size, comm->rank, shared->faulty);
}

/* How long this rank waits in its operation for the one that is late. */
static double waiting_us(struct backend_comm *comm, const struct sim_call *call)
{
    if (comm->shared->fault.kind != FAULT_SLOW ||
        (comm->in_batch && comm->batch_waited) || !waits_for_faulty(comm, call))
        return 0;
    comm->batch_waited = true;
    return (double)comm->shared->fault.us;
}

static int check_stop(const struct backend_comm *comm, struct error *err)
{
    if (comm->stop && atomic_load_explicit(comm->stop, memory_order_relaxed))
        return error_set(err, ERROR_UNAVAILABLE, "told to stop");
    return 0;
}

int sim_comm_settle(struct backend_comm *comm, struct error *err)
{
    while (comm->clock.debt_us >= 1) {
        double us = comm->clock.debt_us < SLICE_US ? comm->clock.debt_us : SLICE_US;
        struct timespec time = {.tv_nsec = (long)(us * 1000)};
        if (check_stop(comm, err))
            return -1;
        nanosleep(&time, NULL);
        comm->clock.debt_us -= us;
    }
    return 0;
}

static int owe(struct backend_comm *comm, double us, struct error *err)
{
    comm->clock.debt_us += us * comm->sleep_fraction;
    return comm->clock.debt_us >= DEBT_US ? sim_comm_settle(comm, err) : 0;
}

/* In an operation to which one of those that it needs does not come. ERROR_PEER where all
 * ranks are in this process: it is the next one's turn. */
static int wait_in_vain(const struct backend_comm *comm, struct error *err)
{
    const struct timespec slice = {.tv_nsec = (long)(SLICE_US * 1000)};

    if (!comm->tree)
        return error_set(err, ERROR_PEER, "waits for a rank that hangs");
    while (check_stop(comm, err) == 0)
        nanosleep(&slice, NULL);
    return -1;
}

int sim_comm_be_late(struct backend_comm *comm, double us, struct error *err)
{
    comm->clock.host_us += us;
    return owe(comm, us, err);
}

int sim_comm_spend(struct backend_comm *comm, const struct backend_call *call,
                   struct error *err)
{
    const struct sim_shared *shared = comm->shared;
    struct sim_call model_call = {.kind = call->kind, .root = call->root};
    unsigned bit = 1u << call->kind;

    model_call.bytes =
        (double)call->count * (double)dtype_size(call->dtype) *
        (collective_facts(call->kind)->shape != SHAPE_FLAT ? shared->world_size : 1);
    if (call->traffic)
        model_call.bytes = (double)call->traffic->most * (double)dtype_size(call->dtype);
    if (shared->fault.kind == FAULT_HANG && comm->calls + 1 == shared->fault.op &&
        waits_for_faulty(comm, &model_call))
        return wait_in_vain(comm, err);
    estimate(comm, &model_call);
    double us =
        comm->own_us * changed(comm) *
            noise_of_call(&shared->params, shared->seed, comm->calls, comm->world_rank) +
        waiting_us(comm, &model_call);
    if (!(comm->started & bit)) {
        comm->started |= bit;
        us += shared->params.first_us;
    }
    comm->calls++;
    comm->clock.host_us += us;
    comm->clock.device_us += us;
    return owe(comm, us, err);
}
