/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c - apply the faults that a test injects into a rank */
#include "agent/worker/bench/fault.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"

static void sleep_us(long us)
{
    struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

static int be_late(struct bench *bench, struct error *err)
{
    long us = bench->file->fault.us;

    if (bench->backend->be_late)
        return bench->backend->be_late(bench->comm, us, err);
    sleep_us(us);
    return 0;
}

static enum fault_kind kind_of(const struct bench *bench, uint64_t row)
{
    const struct fault *fault = &bench->file->fault;

    if (fault->rank != bench->rank)
        return FAULT_NONE;
    return fault->kind == FAULT_SLOW || fault->op > 0 || fault->row == row ? fault->kind
                                                                           : FAULT_NONE;
}

/* True if operation `op` belongs to a later submission. agg_iters calls form one
 * submission. */
static bool is_later(const struct bench *bench)
{
    uint64_t begun = atomic_load_explicit(&bench->progress->begun, memory_order_relaxed);

    return begun + (uint64_t)bench->file->spec->agg_iters < bench->file->fault.op;
}

int fault_act(struct bench *bench, uint64_t row, struct error *err)
{
    switch (is_later(bench) ? FAULT_NONE : kind_of(bench, row)) {
    case FAULT_SLOW:
        return be_late(bench, err);
    case FAULT_DIE:
        kill(getpid(), SIGKILL);
        return 0;
    case FAULT_HANG:
        while (!bench_stopped(bench, err))
            sleep_us(10000);
        return -1;
    default:
        return 0;
    }
}

/* The timed loop passes timed_calls.comm, which fault_wrap() has set to the wrapper. */
static struct fault_wrap *wrap_of(struct backend_comm *comm)
{
    return (struct fault_wrap *)(void *)comm;
}

/* The loop counts a call before it begins, so subtract it while the fault acts. */
static int act_before(const struct fault_wrap *wrap, struct error *err)
{
    struct progress *progress = wrap->bench->progress;

    progress_begin_many(progress, -wrap->operations);
    int status = fault_act(wrap->bench, wrap->row, err);
    progress_begin_many(progress, status ? 0 : wrap->operations);
    return status;
}

static int run(struct backend_comm *comm, const struct backend_call *call,
               struct error *err)
{
    const struct fault_wrap *wrap = wrap_of(comm);
    bool is_first = call->opens_batch || wrap->bench->file->spec->agg_iters == 1 ||
                    wrap->operations > 1;

    if (is_first && act_before(wrap, err))
        return -1;
    return wrap->inner.run(wrap->inner.comm, call, err);
}

static int wait(struct backend_comm *comm, struct error *err)
{
    return wrap_of(comm)->inner.wait(wrap_of(comm)->inner.comm, err);
}

/* Apply the fault between the barrier and the call, so that the rank arrives late. */
static int isolated(struct timed *timed, struct timed_ns *out, struct arrival *arrival,
                    struct error *err)
{
    const struct fault_wrap *wrap = wrap_of(timed->calls.comm);
    struct timed inner = *timed;
    struct arrival call;

    arrival->in_ns = clock_monotonic_ns();
    if (bench_barrier(wrap->bench, err))
        return -1;
    arrival->out_ns = clock_monotonic_ns();
    if (fault_act(wrap->bench, wrap->row, err))
        return -1;
    inner.calls = wrap->inner;
    inner.calls.barrier = NULL;
    if (timed_isolated(&inner, out, &call, err))
        return -1;
    arrival->came_ns = call.came_ns;
    timed->place = inner.place;
    return 0;
}

void fault_wrap(struct fault_wrap *wrap, struct bench *bench, uint64_t row,
                struct timed *timed, struct backend_timing *timing)
{
    if (kind_of(bench, row) == FAULT_NONE)
        return;
    *wrap = (struct fault_wrap){bench, row, timed->calls, timed->operations};
    timed->calls.run = run;
    timed->calls.wait = wait;
    timed->calls.comm = (struct backend_comm *)(void *)wrap;
    if (!bench->backend->timing)
        timing->isolated = isolated;
}
