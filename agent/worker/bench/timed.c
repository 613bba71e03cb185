/* SPDX-License-Identifier: Apache-2.0 */
/* timed.c - the timed region: everything that runs between two readings of the clock */
#include "agent/worker/bench/timed.h"

#include "common/base/clock.h"

/* Make one submission: `batch` calls, each at the next buffer offset. */
static inline int submit(struct timed *timed, struct error *err)
{
    for (long i = 0; i < timed->batch; i++) {
        size_t shift = timed->place * timed->place_bytes;

        timed->place = timed->place + 1 == timed->places ? 0 : timed->place + 1;
        timed->call.send = timed->send + shift;
        timed->call.recv = timed->recv + shift;
        timed->call.opens_batch = timed->batch > 1 && i == 0;
        timed->call.closes_batch = timed->batch > 1 && i == timed->batch - 1;
        progress_begin_many(timed->progress, timed->operations);
        if (timed->calls.run(timed->calls.comm, &timed->call, err))
            return -1;
    }
    if (!timed->is_async)
        progress_finish(timed->progress);
    if (atomic_load_explicit(timed->stop, memory_order_relaxed))
        return error_set(err, ERROR_UNAVAILABLE, "stopped on request");
    return 0;
}

static inline int wait_for_all(struct timed *timed, struct error *err)
{
    if (timed->calls.wait(timed->calls.comm, err))
        return -1;
    progress_finish(timed->progress);
    return 0;
}

static inline int barrier(struct timed *timed, struct error *err)
{
    if (!timed->calls.barrier)
        return 0;
    progress_wait(timed->progress, true);
    int status = timed->calls.barrier(timed->calls.tree, err);
    progress_wait(timed->progress, false);
    return status;
}

int timed_back_to_back(struct timed *timed, struct timed_ns *out, struct error *err)
{
    out->in_ns = clock_monotonic_ns();
    if (barrier(timed, err))
        return -1;
    int64_t start = clock_monotonic_ns(), last = start;
    for (long i = 0; i < timed->iters; i++) {
        if (submit(timed, err))
            return -1;
        if (timed->each_ns) {
            int64_t now = clock_monotonic_ns();
            timed->each_ns[i] = now - last;
            last = now;
        }
    }
    out->enqueue_ns = clock_monotonic_ns() - start;
    if (wait_for_all(timed, err))
        return -1;
    out->total_ns = clock_monotonic_ns() - start;
    out->out_ns = start;
    return 0;
}

int timed_blocking(struct timed *timed, struct timed_ns *out, struct error *err)
{
    *out = (struct timed_ns){.in_ns = clock_monotonic_ns()};
    if (barrier(timed, err))
        return -1;
    out->out_ns = clock_monotonic_ns();
    for (long i = 0; i < timed->iters; i++) {
        int64_t start = clock_monotonic_ns();
        if (submit(timed, err))
            return -1;
        out->enqueue_ns += clock_monotonic_ns() - start;
        if (wait_for_all(timed, err) ||
            (timed->blocking == BLOCKING_WAIT_BARRIER && barrier(timed, err)))
            return -1;
        int64_t took = clock_monotonic_ns() - start;
        out->total_ns += took;
        if (timed->each_ns)
            timed->each_ns[i] = took;
        if (timed->blocking == BLOCKING_EACH_ITERATION && barrier(timed, err))
            return -1;
    }
    return 0;
}

int timed_isolated(struct timed *timed, struct timed_ns *out, struct arrival *arrival,
                   struct error *err)
{
    arrival->in_ns = clock_monotonic_ns();
    if (barrier(timed, err))
        return -1;
    arrival->out_ns = clock_monotonic_ns();
    arrival->came_ns = clock_monotonic_ns();
    if (submit(timed, err))
        return -1;
    out->enqueue_ns = clock_monotonic_ns() - arrival->came_ns;
    if (wait_for_all(timed, err))
        return -1;
    out->total_ns = clock_monotonic_ns() - arrival->came_ns;
    return 0;
}
