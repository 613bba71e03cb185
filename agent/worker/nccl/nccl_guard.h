/* nccl_guard.h - notices what the worker's own thread cannot while it is inside NCCL or
 * CUDA
 *
 * A call to NCCL may wait for the peers (a group's end that connects, a window that is
 * registered) and never hear that one is gone, and one to CUDA for the kernel that spins
 * because of it (cudaFree, a launch into a full stream). So a thread of its own looks at
 * the peers as soon as a call takes long, and ends the process with the lost rank's
 * number: NCCL's abort is safe only when no thread is inside NCCL, and the GPU is free
 * when the process has ended. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_GUARD_H
#define RINGBENCH_WORKER_NCCL_NCCL_GUARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/group/watch.h"
#include "agent/worker/nccl/nccl_lib.h"

struct nccl_guard {
    /* Written by the worker's thread. */
    _Alignas(128) _Atomic uint64_t passes; /* into NCCL and out again: odd when inside */
    _Atomic(const char *) what;            /* the call; static text */
    atomic_bool is_leaving;                /* peers may end now */
    /* The guard's. */
    _Alignas(128) struct watch watch;
    const struct nccl_lib *nccl;
    const atomic_int *stop;
    void (*give_up)(void *arg, const struct error *error, int lost);
    void *give_up_arg;
    _Atomic int64_t limit_ns; /* of one call; 0: none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_started, is_ending;
};

/* Begin to watch the peers of `peers`, which stays valid until the guard has stopped, as
 * `nccl` does, loaded or not. limit_ns: of one call, 0: none. Without env->give_up there
 * is no guard. */
int nccl_guard_start(struct nccl_guard *guard, const struct watch *peers,
                     const struct nccl_lib *nccl, const struct backend_env *env,
                     int64_t limit_ns, struct error *err);
void nccl_guard_stop(struct nccl_guard *guard);

/* All work is done: from here on a peer that ends is none that is lost, and a call has
 * limit_ns. */
void nccl_guard_set_leaving(struct nccl_guard *guard, int64_t limit_ns);

/* Around a call that may wait for peers. */
static inline void nccl_guard_pass(struct nccl_guard *guard)
{
    uint64_t passes = atomic_load_explicit(&guard->passes, memory_order_relaxed);

    atomic_store_explicit(&guard->passes, passes + 1, memory_order_release);
}

static inline void nccl_guard_enter(struct nccl_guard *guard, const char *what)
{
    atomic_store_explicit(&guard->what, what, memory_order_relaxed);
    nccl_guard_pass(guard);
}

static inline void nccl_guard_leave(struct nccl_guard *guard)
{
    nccl_guard_pass(guard);
}

static inline int nccl_guard_left(struct nccl_guard *guard, int result)
{
    nccl_guard_leave(guard);
    return result;
}

/* The call's own result; not for calls within calls. */
#define GUARDED(guard, what, call)                                                       \
    (nccl_guard_enter(guard, what), nccl_guard_left(guard, call))

#endif
