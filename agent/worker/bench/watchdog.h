/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.h - the thread that observes the worker's main thread
 *
 * The watchdog waits for deaths on the control tree and reports the progress every
 * second. It also ends the process if the main thread hangs in a library call. Such a
 * call may wait for a dead peer (ncclGroupEnd while it connects, ncclCommWindowRegister),
 * or for a kernel that spins because of that peer (cudaFree, a launch into a full
 * stream). The library cannot be cleaned up while a thread is inside a call. The end of
 * the process frees the GPU. */
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

/* End the process; does not return. lost: the lost rank of the case, or -1. With code
 * ERROR_NONE the case succeeded, and only a dispensable call hangs. */
typedef void watchdog_give_up(void *arg, const struct error *error, int lost);

/* Return the library's last error message, to append to a sentence, or "". */
typedef const char *watchdog_more(void *arg, char text[WATCHDOG_MORE_MAX]);

struct watchdog {
    /* Written by the main thread. */
    _Alignas(
        /* number of entries into and exits from calls; odd while inside a call */
        128) _Atomic uint64_t passes;
    _Atomic(const char *) what; /* the call's name; static text */
    _Atomic int64_t limit_ns;   /* time limit of one call; 0: none */
    /* true if a peer that exits no longer counts as lost */
    atomic_bool is_leaving;
    atomic_bool is_dispensable; /* true if a hanging call is not a failure */
    /* Written under the lock. */
    _Alignas(128) struct progress *progress;
    struct events *events;
    const atomic_int *stop;
    watchdog_give_up *give_up;
    void *give_up_arg;
    struct tree *tree; /* NULL: none yet */
    bool is_guarding;  /* calls are checked for hangs */
    watchdog_more *more;
    void *more_arg;
    pthread_t thread;
    pthread_mutex_t lock;
    int wake_fd;
    bool is_started, is_ending;
};

/* All arguments are borrowed until watchdog_stop. *stop: non-zero after SIGTERM. */
int watchdog_start(struct watchdog *watchdog, struct progress *progress,
                   struct events *events, const atomic_int *stop,
                   watchdog_give_up *give_up, void *arg, struct error *err);
void watchdog_stop(struct watchdog *watchdog);

/* Observe this control tree from now on; NULL: none. Accepts NULL as the watchdog. */
void watchdog_follow(struct watchdog *watchdog, struct tree *tree);

/* From now on, end the process if a call does not return within limit_ns (0: no limit),
 * or soon after a peer is lost. more_arg stays valid until watchdog_unguard. */
void watchdog_guard(struct watchdog *watchdog, int64_t limit_ns, watchdog_more *more,
                    void *more_arg);
void watchdog_unguard(struct watchdog *watchdog);

/* All work is done: from now on a peer's exit is not a loss, and limit_ns applies. */
void watchdog_set_leaving(struct watchdog *watchdog, int64_t limit_ns);

static inline void watchdog_set_limit(struct watchdog *watchdog, int64_t limit_ns)
{
    atomic_store_explicit(&watchdog->limit_ns, limit_ns, memory_order_relaxed);
}

static inline void watchdog_set_dispensable(struct watchdog *watchdog, bool is_so)
{
    atomic_store_explicit(&watchdog->is_dispensable, is_so, memory_order_relaxed);
}

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

/* Evaluate `call`, which may hang, under the watchdog. Do not nest. */
#define GUARDED(watchdog, what, call)                                                    \
    (watchdog_enter(watchdog, what), watchdog_left(watchdog, call))

#endif
