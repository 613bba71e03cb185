/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - wait for peers, and notice when one is lost */
#include "agent/worker/group/watch.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/worker/base/affinity.h"
#include "common/base/clock.h"
#include "common/base/this_machine.h"

enum { NOTICE_NONE, NOTICE_BEGUN, NOTICE_WHOLE };

#define NAP_AFTER_NS 20000000
#define NAP_NS 100000
/* a longer yield means that another process computes on this core */
#define LONG_TURN_NS 500000
/* number of yields to replace with naps after a long yield */
#define YIELDS_SPARED 32
/* naps while waiting for the notice of a loss: at least 50 ms in total */
#define NEWS_NAPS 500
#define SPINS_ALONE 2000
#define POLLS_ALONE 300 /* polls of a socket before sleeping on it: about 100 us */
#define POLLS_CROWDED 2
#define SLEEPS_TRIED 64 /* number of sleeps between two attempts to poll longer */
/* short, because the awaited rank is probably waiting for this core */
#define SPINS_CROWDED 2

/* Record why waits end. Only the first reason is kept. */
static int record(struct watch *watch, int lost, enum error_code code, const char *text)
{
    if (!atomic_exchange(&watch->is_claimed, true)) {
        watch->lost = lost;
        error_set(&watch->error, code, "%s", text);
        atomic_store(&watch->has_failed, true);
    }
    while (!atomic_load(&watch->has_failed))
        watch_relax();
    return -1;
}

int watch_lose_rank(struct watch *watch, int lost, enum error_code code, const char *text)
{
    return record(watch, lost, code, text);
}

void watch_publish(struct watch_notice *notice, int lost, enum error_code code,
                   const char *text)
{
    int none = NOTICE_NONE;

    if (!atomic_compare_exchange_strong(&notice->state, &none, NOTICE_BEGUN))
        return;
    notice->lost = lost;
    notice->code = (int32_t)code;
    snprintf(notice->text, sizeof(notice->text), "%.255s", text);
    atomic_store(&notice->state, NOTICE_WHOLE);
}

/* True if the peer is unreachable: its connection timed out. A process that exits closes
 * its connections instead. */
static bool is_silence(int errnum)
{
    return errnum == ETIMEDOUT || errnum == EHOSTUNREACH || errnum == ENETUNREACH;
}

void watch_describe_end(int rank, struct error *out)
{
    error_set(out, ERROR_PEER, "lost rank %d: its process has ended", rank);
}

void watch_describe_cut(int rank, int errnum, struct error *out)
{
    error_set(out, is_silence(errnum) ? ERROR_UNREACHABLE : ERROR_PEER,
              "lost rank %d: %s", rank, errnum ? strerror(errnum) : "connection closed");
}

void watch_init(struct watch *watch, const atomic_int *stop)
{
    memset(watch, 0, sizeof(*watch));
    watch->stop = stop;
    watch->lost = -1;
    watch->spins = SPINS_ALONE;
}

void watch_set_sharers(struct watch *watch, int processes)
{
    int cores = this_machine_cpus_count();

    /* The agent binds ranks only if there are enough cores. */
    watch->is_crowded = processes > (cores ? cores : 1) && !affinity_is_given();
    watch->spins = watch->is_crowded ? SPINS_CROWDED : SPINS_ALONE;
}

int watch_check(struct watch *watch)
{
    const struct watch_notice *notice = watch->notice;

    if (atomic_load_explicit(&watch->has_failed, memory_order_acquire))
        return -1;
    if (watch->stop && atomic_load_explicit(watch->stop, memory_order_relaxed))
        return record(watch, -1, ERROR_UNAVAILABLE, "stopped on request");
    if (atomic_load_explicit(&watch->is_leaving, memory_order_relaxed)) {
        return clock_monotonic_ns() < watch->leave_by_ns
                   ? 0
                   : record(watch, -1, ERROR_TIMEOUT, "not all ranks left in time");
    }
    if (!notice ||
        atomic_load_explicit(&notice->state, memory_order_acquire) != NOTICE_WHOLE)
        return 0;
    return record(watch, notice->lost, (enum error_code)notice->code, notice->text);
}

/* A call has failed: wait briefly for a notice of the loss that caused it. */
static bool await_news(struct watch *watch)
{
    for (int i = 0; i < NEWS_NAPS; i++) {
        if (watch_check(watch))
            return true;
        watch_nap();
    }
    return false;
}

int watch_lose(struct watch *watch, int rank, int errnum)
{
    struct error error;

    if (!is_silence(errnum) && await_news(watch))
        return -1;
    watch_describe_cut(rank, errnum, &error);
    return record(watch, rank, error.code, error.text);
}

int watch_fail_after_news(struct watch *watch, const struct error *error)
{
    return await_news(watch) ? -1 : watch_fail(watch, error->code, error->text);
}

int watch_fail(struct watch *watch, enum error_code code, const char *text)
{
    return record(watch, -1, code, text);
}

int watch_reason(const struct watch *watch, struct error *err)
{
    if (err)
        *err = watch->error;
    return -1;
}

bool watch_yield(unsigned *spared, unsigned n)
{
    int64_t start_ns;

    if (*spared > 0) {
        (*spared)--;
        return false;
    }
    start_ns = clock_monotonic_ns();
    sched_yield();
    if (clock_monotonic_ns() - start_ns > LONG_TURN_NS)
        *spared = n;
    return true;
}

void watch_nap(void)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};

    nanosleep(&nap, NULL);
}

int watch_idle_slow(struct watch *watch, struct watch_idle *idle)
{
    if (!watch_yield(&watch->spared, YIELDS_SPARED))
        watch_nap();
    if (idle->polls % 16 != 0)
        return 0;
    int64_t now = clock_monotonic_ns();
    if (idle->since_ns == 0)
        idle->since_ns = now;
    if (watch_check(watch))
        return -1;
    if (now - idle->since_ns > NAP_AFTER_NS) {
        watch_nap();
        idle->polls |= 15u; /* make the next poll read the clock again */
    }
    return 0;
}

/* Without binding, the kernel may run this rank on the peer's core, where polling keeps
 * the peer from answering. After unsuccessful polling, long polls are rare. */
void watch_poll_less(struct watch *watch)
{
    watch->sleeps++;
    if (watch->is_crowded)
        watch->polls = POLLS_CROWDED;
    else if (affinity_is_given() || watch->sleeps % SLEEPS_TRIED == 1)
        watch->polls = POLLS_ALONE;
    else
        watch->polls = watch->polls / 4 + POLLS_CROWDED;
}

void watch_leave(struct watch *watch, int64_t ms)
{
    watch->leave_by_ns = clock_monotonic_ns() + ms * 1000000;
    atomic_store(&watch->is_leaving, true);
}
