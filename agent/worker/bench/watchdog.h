/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.h - the one thread that watches the worker's own
 *
 * It looks after the control plane: it sleeps until there is news of a death. It reports
 * the progress each second. It ends the process if the worker's thread stays inside of a
 * call to a library: a call may wait for a peer and never hear that it is gone (a group's
 * end that connects, a window that is registered), or for a kernel that spins because of
 * it (cudaFree, a launch into a full stream). No library frees anything while a thread is
 * inside of it, and the GPU is free when the process has ended. */
#ifndef RINGBENCH_WORKER_BENCH_WATCHDOG_H
#define RINGBENCH_WORKER_BENCH_WATCHDOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/worker/bench/events.h"
#include "agent/worker/bench/progress.h"
#include "agent/worker/group/tree.h"
#include "common/base/error.h"

#define WATCHDOG_MORE_MAX 400

/* How the process ends. lost: a rank of the case, or -1. code ERROR_NONE: all is done,
 * but for a call that nothing depends on. Does not return. */
typedef void watchdog_give_up(void *arg, const struct error *error, int lost);

/* What a library said last, ready to follow a sentence, or "". */
typedef const char *watchdog_more(void *arg, char text[WATCHDOG_MORE_MAX]);

struct watchdog {
    /* Written by the worker's thread. */
    _Alignas(128) _Atomic uint64_t passes; /* into calls and out again: odd when inside */
    _Atomic(const char *) what;            /* the call; static text */
    _Atomic int64_t limit_ns;              /* of one call; 0: none */
    atomic_bool is_leaving;                /* peers may end now */
    atomic_bool is_dispensable;            /* nothing depends on the call */
    /* The thread's. */
    _Alignas(128) struct progress *progress;
    struct events *events;
    const atomic_int *stop;
    watchdog_give_up *give_up;
    void *give_up_arg;
    struct tree *tree; /* NULL: none yet */
    bool is_guarding;  /* calls that may not return */
    watchdog_more *more;
    void *more_arg;
    pthread_t thread;
    pthread_mutex_t lock;
    int wake_fd;
    bool is_started, is_ending;
};

/* All is borrowed until watchdog_stop. stop: non-zero since SIGTERM. */
int watchdog_start(struct watchdog *watchdog, struct progress *progress,
                   struct events *events, const atomic_int *stop,
                   watchdog_give_up *give_up, void *arg, struct error *err);
void watchdog_stop(struct watchdog *watchdog);

/* From here on look after this control plane; NULL: after none. NULL as the watchdog is
 * fine. */
void watchdog_follow(struct watchdog *watchdog, struct tree *tree);

/* From here on end the process if a call does not return although a peer is lost, or in
 * limit_ns (0: no limit). more_arg stays valid until watchdog_unguard. */
void watchdog_guard(struct watchdog *watchdog, int64_t limit_ns, watchdog_more *more,
                    void *more_arg);
void watchdog_unguard(struct watchdog *watchdog);

/* All work is done: from here on a peer that ends is none that is lost, and a call has
 * limit_ns. */
void watchdog_set_leaving(struct watchdog *watchdog, int64_t limit_ns);

static inline void watchdog_set_limit(struct watchdog *watchdog, int64_t limit_ns)
{
    atomic_store_explicit(&watchdog->limit_ns, limit_ns, memory_order_relaxed);
}

static inline void watchdog_set_dispensable(struct watchdog *watchdog, bool is_so)
{
    atomic_store_explicit(&watchdog->is_dispensable, is_so, memory_order_relaxed);
}

/* Around a call that may not return. */
static inline void watchdog_pass(struct watchdog *watchdog)
{
    uint64_t passes = atomic_load_explicit(&watchdog->passes, memory_order_relaxed);

    atomic_store_explicit(&watchdog->passes, passes + 1, memory_order_release);
}

static inline void watchdog_enter(struct watchdog *watchdog, const char *what)
{
    atomic_store_explicit(&watchdog->what, what, memory_order_relaxed);
    watchdog_pass(watchdog);
}

static inline void watchdog_leave(struct watchdog *watchdog)
{
    watchdog_pass(watchdog);
}

static inline int watchdog_left(struct watchdog *watchdog, int result)
{
    watchdog_leave(watchdog);
    return result;
}

/* The call's own result; not for calls within calls. */
#define GUARDED(watchdog, what, call)                                                    \
    (watchdog_enter(watchdog, what), watchdog_left(watchdog, call))

#endif
