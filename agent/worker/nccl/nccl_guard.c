/* nccl_guard.c - notices what the worker's own thread cannot while it is inside NCCL */
#include "agent/worker/nccl/nccl_guard.h"

#include <signal.h>
#include <time.h>

#include "common/clock.h"

#define LOOK_MS 50
#define GRACE_NS 300000000 /* for NCCL to notice the loss itself */

static void sleep_a_look(struct nccl_guard *guard)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_cond_timedwait(&guard->wake, &guard->lock, &until);
}

static void report_loss(struct nccl_guard *guard, const char *what)
{
    const char *last = guard->nccl->call.last_error(NULL);
    struct error error = {0};

    error_set(&error, ERROR_PEER, "%s, and NCCL (%s) waits for it%s%s",
              guard->watch.error.text, what, last && *last ? ", its last error: " : "",
              last ? last : "");
    guard->give_up(guard->give_up_arg, &error, guard->watch.lost);
}

static void report_timeout(struct nccl_guard *guard, const char *what)
{
    struct error error = {0};

    error_set(&error, ERROR_TIMEOUT, "NCCL (%s) has not returned in %.0f s", what,
              (double)guard->limit_ns / 1e9);
    guard->give_up(guard->give_up_arg, &error, -1);
}

/* The worker's thread is in one call to NCCL since begun_ns at least. */
static void look(struct nccl_guard *guard, int64_t begun_ns, int64_t *lost_ns)
{
    const char *what = atomic_load_explicit(&guard->what, memory_order_relaxed);
    int64_t now = clock_monotonic_ns();

    if (watch_check(&guard->watch)) {
        *lost_ns = *lost_ns ? *lost_ns : now;
        if (now - *lost_ns > GRACE_NS) {
            report_loss(guard, what);
        }
    } else if (guard->limit_ns && now - begun_ns > guard->limit_ns) {
        report_timeout(guard, what);
    }
}

static void *run(void *arg)
{
    struct nccl_guard *guard = arg;
    uint64_t seen = 0;
    int64_t begun_ns = 0, lost_ns = 0;

    pthread_mutex_lock(&guard->lock);
    while (!guard->is_ending) {
        sleep_a_look(guard);
        uint64_t passes = atomic_load_explicit(&guard->passes, memory_order_acquire);
        if (guard->is_ending) {
            break;
        }
        if (passes % 2 == 0 || passes != seen) {
            seen = passes;
            begun_ns = clock_monotonic_ns();
            lost_ns = 0;
        } else {
            look(guard, begun_ns, &lost_ns);
        }
    }
    pthread_mutex_unlock(&guard->lock);
    return NULL;
}

static int start_thread(struct nccl_guard *guard)
{
    pthread_condattr_t attributes;
    sigset_t all, before;

    pthread_mutex_init(&guard->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&guard->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&guard->thread, NULL, run, guard);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

int nccl_guard_start(struct nccl_guard *guard, const struct watch *peers,
                     const struct nccl_lib *nccl, const struct backend_env *env,
                     int64_t limit_ns, struct error *err)
{
    if (!env->give_up) {
        return 0;
    }
    guard->nccl = nccl;
    guard->give_up = env->give_up;
    guard->give_up_arg = env->give_up_arg;
    guard->limit_ns = limit_ns;
    if (watch_follow(&guard->watch, peers, err)) {
        return -1;
    }
    int status = start_thread(guard);
    if (status) {
        watch_release(&guard->watch);
        return error_set_errno(err, ERROR_INTERNAL, status, "guard thread");
    }
    guard->is_started = true;
    return 0;
}

void nccl_guard_stop(struct nccl_guard *guard)
{
    if (!guard->is_started) {
        return;
    }
    pthread_mutex_lock(&guard->lock);
    guard->is_ending = true;
    pthread_cond_signal(&guard->wake);
    pthread_mutex_unlock(&guard->lock);
    pthread_join(guard->thread, NULL);
    pthread_cond_destroy(&guard->wake);
    pthread_mutex_destroy(&guard->lock);
    watch_release(&guard->watch);
    guard->is_started = false;
}
