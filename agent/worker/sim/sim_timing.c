/* sim_timing.c - calls timed by the model's clock, in the ways of timed.h
 *
 * The clock goes on in calls alone: neither a wait nor a barrier takes time. */
#include "agent/worker/bench/progress.h"
#include "agent/worker/bench/timed.h"
#include "agent/worker/sim/noise_parts.h"
#include "agent/worker/sim/sim_comm.h"

static int64_t now_ns(const struct backend_comm *comm)
{
    return (int64_t)(comm->clock.host_us * 1000);
}

static int submit(struct timed *timed, struct error *err)
{
    for (long i = 0; i < timed->batch; i++) {
        timed->call.opens_batch = timed->batch > 1 && i == 0;
        timed->call.closes_batch = timed->batch > 1 && i == timed->batch - 1;
        progress_begin(timed->progress);
        if (timed->calls.run(timed->calls.comm, &timed->call, err))
            return -1;
    }
    progress_finish(timed->progress);
    if (atomic_load_explicit(timed->stop, memory_order_relaxed))
        return error_set(err, ERROR_UNAVAILABLE, "told to stop");
    return 0;
}

static int barrier(struct timed *timed, struct error *err)
{
    progress_wait(timed->progress, true);
    int status = timed->calls.barrier(timed->calls.comm, err);
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

/* Ranks leave the barrier at one time, which their clocks do not tell. */
static int isolated(struct timed *timed, struct timed_ns *out, struct arrival *arrival,
                    struct error *err)
{
    const struct sim_shared *shared = timed->comm->shared;
    struct sim_clock *clock = &timed->comm->clock;
    int64_t left_ns;

    if (barrier(timed, err))
        return -1;
    left_ns = now_ns(timed->comm);
    clock->device_us = 0;
    clock->host_us += noise_of_host(&shared->params, shared->seed, timed->comm->calls,
                                    timed->comm->world_rank);
    if (submit(timed, err))
        return -1;
    out->enqueue_ns = out->total_ns = (int64_t)(clock->device_us * 1000);
    *arrival = (struct arrival){.came_ns = now_ns(timed->comm) - left_ns - out->total_ns};
    return timed->calls.wait(timed->calls.comm, err);
}

const struct backend_timing sim_timing = {now_ns, back_to_back, blocking, isolated};
