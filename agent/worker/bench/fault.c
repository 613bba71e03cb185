/* fault.c - tests: misbehave as the case says */
#include "agent/worker/bench/fault.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

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

enum fault_kind fault_at(const struct bench *bench, uint64_t row)
{
    const struct fault *fault = &bench->file->fault;

    if (fault->rank != bench->rank)
        return FAULT_NONE;
    return fault->kind == FAULT_SLOW || fault->op > 0 || fault->row == row ? fault->kind
                                                                           : FAULT_NONE;
}

/* Calls are submitted so many at once. */
static bool is_later(const struct bench *bench)
{
    uint64_t begun = atomic_load_explicit(&bench->progress->begun, memory_order_relaxed);

    return begun + (uint64_t)bench->file->spec->agg_iters < bench->file->fault.op;
}

int fault_act(struct bench *bench, enum fault_kind kind, struct error *err)
{
    switch (is_later(bench) ? FAULT_NONE : kind) {
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
