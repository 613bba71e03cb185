/* SPDX-License-Identifier: Apache-2.0 */
/* sim_comm.c - a rank of a simulated communicator: spend simulated time */
#include "agent/worker/sim/sim_comm.h"

#include <math.h>
#include <time.h>

#include "agent/worker/bench/progress.h"
#include "agent/worker/bench/timed.h"
#include "agent/worker/sim/noise.h"

#define DEBT_US 2000      /* shortest sleep: each sleep is about 50 us too long */
#define SLICE_US 100000.0 /* longest sleep, so that a stop is noticed */

static int check_stop(const struct backend_comm *comm, struct error *err)
{
    if (comm->stop && atomic_load_explicit(comm->stop, memory_order_relaxed))
        return error_set(err, ERROR_UNAVAILABLE, "stopped on request");
    return 0;
}

int sim_comm_settle(struct backend_comm *comm, struct error *err)
{
    while (comm->debt_us >= 1) {
        double us = comm->debt_us < SLICE_US ? comm->debt_us : SLICE_US;
        struct timespec time = {.tv_nsec = (long)(us * 1000)};
        if (check_stop(comm, err))
            return -1;
        nanosleep(&time, NULL);
        comm->debt_us -= us;
    }
    return 0;
}

static int pass(struct backend_comm *comm, double us, struct error *err)
{
    comm->host_us += us;
    comm->debt_us += us * comm->params.sleep_fraction;
    return comm->debt_us >= DEBT_US ? sim_comm_settle(comm, err) : 0;
}

int sim_comm_be_late(struct backend_comm *comm, long us, struct error *err)
{
    return pass(comm, (double)us, err);
}

static int hang(const struct backend_comm *comm, struct error *err)
{
    const struct timespec slice = {.tv_nsec = (long)(SLICE_US * 1000)};

    while (check_stop(comm, err) == 0)
        nanosleep(&slice, NULL);
    return -1;
}

int sim_comm_begin(struct backend_comm *comm, struct error *err)
{
    return sim_model_hangs(&comm->model, comm->rank) ? hang(comm, err) : 0;
}

static void estimate(struct backend_comm *comm, enum collective_kind kind, double bytes)
{
    const struct sim_model *model = &comm->model;

    if (comm->kind == kind && fabs(comm->bytes - bytes) < 0.5)
        return;
    comm->kind = kind;
    comm->bytes = bytes;
    comm->estimate = sim_model_choose(model, kind, bytes);
    comm->own_us = sim_model_rank_us(model, kind, bytes, &comm->estimate, comm->rank) *
                   model->case_factor *
                   noise_of_row(&comm->params, model->seed, kind, bytes);
}

/* True if another rank of this rank's group has a fault of this kind. */
static bool is_fault(const struct backend_comm *comm, enum fault_kind kind)
{
    const struct fault *fault = &comm->file->fault;
    const int *of = comm->file->groups.of;

    return fault->kind == kind && fault->rank != comm->world_rank &&
           fault->rank < comm->file->world_size &&
           of[fault->rank] == of[comm->world_rank];
}

/* The time that this rank waits in its operation for a slow rank, once per batch. */
static double waiting_us(struct backend_comm *comm)
{
    if (!is_fault(comm, FAULT_SLOW) || (comm->in_batch && comm->batch_waited))
        return 0;
    comm->batch_waited = true;
    return (double)comm->file->fault.us;
}

int sim_comm_spend(struct backend_comm *comm, const struct backend_call *call,
                   struct error *err)
{
    if (is_fault(comm, FAULT_HANG) && comm->calls + 1 == comm->file->fault.op)
        return hang(comm, err);
    estimate(comm, call->kind, sim_model_bytes(&comm->model, call));
    if (comm->own_us >= HUGE_VAL)
        return hang(comm, err);
    double us = comm->own_us * noise_of_calls(&comm->params, comm->model.seed,
                                              comm->calls, 1, comm->world_rank) +
                waiting_us(comm);
    comm->calls++;
    comm->device_us += us;
    return pass(comm, us, err);
}

/* ---- The loops of timed.h with the model's clock ---- */

/* Only calls advance this clock: waits and barriers take no time. */
static int64_t now_ns(const struct backend_comm *comm)
{
    return (int64_t)(comm->host_us * 1000);
}

static int submit(struct timed *timed, struct error *err)
{
    if (sim_comm_begin(timed->comm, err))
        return -1;
    for (long i = 0; i < timed->batch; i++) {
        timed->call.opens_batch = timed->batch > 1 && i == 0;
        timed->call.closes_batch = timed->batch > 1 && i == timed->batch - 1;
        progress_begin(timed->progress);
        if (timed->calls.run(timed->calls.comm, &timed->call, err))
            return -1;
    }
    progress_finish(timed->progress);
    return check_stop(timed->comm, err);
}

static int barrier(struct timed *timed, struct error *err)
{
    if (!timed->calls.barrier)
        return 0;
    progress_wait(timed->progress, true);
    int status = timed->calls.barrier(timed->calls.tree, err);
    progress_wait(timed->progress, false);
    return status;
}

static int time_all(struct timed *timed, struct timed_ns *out, bool has_barriers,
                    struct error *err)
{
    int64_t start = now_ns(timed->comm);

    if (barrier(timed, err))
        return -1;
    for (long i = 0; i < timed->iters; i++) {
        int64_t before = now_ns(timed->comm);
        if (submit(timed, err) || (has_barriers && barrier(timed, err)))
            return -1;
        if (timed->each_ns)
            timed->each_ns[i] = now_ns(timed->comm) - before;
    }
    out->enqueue_ns = out->total_ns = now_ns(timed->comm) - start;
    return timed->calls.wait(timed->calls.comm, err);
}

static int back_to_back(struct timed *timed, struct timed_ns *out, struct error *err)
{
    return time_all(timed, out, false, err);
}

static int blocking(struct timed *timed, struct timed_ns *out, struct error *err)
{
    return time_all(timed, out, timed->blocking != BLOCKING_WAIT, err);
}

/* All ranks leave the barrier at the same simulated time, but their clocks differ.
 * Arrivals are therefore relative to the time of leaving the barrier. */
static int isolated(struct timed *timed, struct timed_ns *out, struct arrival *arrival,
                    struct error *err)
{
    struct backend_comm *comm = timed->comm;
    int64_t left_ns;

    if (barrier(timed, err))
        return -1;
    left_ns = now_ns(comm);
    comm->device_us = 0;
    comm->host_us +=
        noise_of_host(&comm->params, comm->model.seed, comm->calls, comm->world_rank);
    if (submit(timed, err))
        return -1;
    out->enqueue_ns = out->total_ns = (int64_t)(comm->device_us * 1000);
    *arrival = (struct arrival){.came_ns = now_ns(comm) - left_ns - out->total_ns};
    return timed->calls.wait(timed->calls.comm, err);
}

const struct backend_timing sim_timing = {now_ns, back_to_back, blocking, isolated};
