/* nccl_guard.c - notices what the worker's own thread cannot while it is inside NCCL or
 * CUDA */
#include "agent/worker/nccl/nccl_guard.h"

#include <string.h>
#include <time.h>

#include "agent/worker/base/thread.h"
#include "common/base/clock.h"

#define LOOK_MS 50
#define GRACE_NS 1000000000 /* for the call to return by itself */

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

static const char *library_of(const char *what)
{
    return strncmp(what, "cuda", 4) == 0 ? "CUDA" : "NCCL";
}

static void report_stop(struct nccl_guard *guard, const char *what)
{
    struct error error = {0};

    error_set(&error, ERROR_UNAVAILABLE, "told to stop, inside of %s (%s)",
              library_of(what), what);
    guard->give_up(guard->give_up_arg, &error, -1);
}

static void report_loss(struct nccl_guard *guard, const char *what)
{
    char last[NCCL_LAST_ERROR_MAX];
    struct error error = {0};

    error_set(&error, ERROR_PEER, "%s, and %s (%s) waits for it%s",
              guard->watch.error.text, library_of(what), what,
              nccl_last_error(guard->nccl, NULL, last));
    guard->give_up(guard->give_up_arg, &error, guard->watch.lost);
}

static void report_timeout(struct nccl_guard *guard, const char *what, int64_t limit_ns)
{
    char last[NCCL_LAST_ERROR_MAX];
    struct error error = {0};

    error_set(&error, ERROR_TIMEOUT, "%s (%s) has not returned in %.0f s%s",
              library_of(what), what, (double)limit_ns / 1e9,
              nccl_last_error(guard->nccl, NULL, last));
    guard->give_up(guard->give_up_arg, &error, -1);
}

static bool is_stopped(const struct nccl_guard *guard)
{
    return guard->stop && atomic_load_explicit(guard->stop, memory_order_relaxed) != 0;
}

static bool has_lost(struct nccl_guard *guard)
{
    return !atomic_load_explicit(&guard->is_leaving, memory_order_relaxed) &&
           watch_check(&guard->watch) && guard->watch.lost >= 0;
}

/* The worker's thread is in one call since begun_ns at least. */
static void look(struct nccl_guard *guard, int64_t begun_ns, int64_t *noticed_ns)
{
    const char *what = atomic_load_explicit(&guard->what, memory_order_relaxed);
    int64_t now = clock_monotonic_ns();
    int64_t limit_ns = atomic_load_explicit(&guard->limit_ns, memory_order_relaxed);
    bool has_stopped = is_stopped(guard);

    if (has_stopped || has_lost(guard)) {
        *noticed_ns = *noticed_ns ? *noticed_ns : now;
        if (now - *noticed_ns <= GRACE_NS)
            return;
        if (has_stopped)
            report_stop(guard, what);
        else
            report_loss(guard, what);
    } else if (limit_ns && now - begun_ns > limit_ns) {
        report_timeout(guard, what, limit_ns);
    }
}

static void *run(void *arg)
{
    struct nccl_guard *guard = arg;
    uint64_t seen = 0;
    int64_t begun_ns = 0, noticed_ns = 0;

    pthread_mutex_lock(&guard->lock);
    while (!guard->is_ending) {
        sleep_a_look(guard);
        uint64_t passes = atomic_load_explicit(&guard->passes, memory_order_acquire);
        if (guard->is_ending)
            break;
        if (passes % 2 == 0 || passes != seen) {
            seen = passes;
            begun_ns = clock_monotonic_ns();
            noticed_ns = 0;
        } else {
            look(guard, begun_ns, &noticed_ns);
        }
    }
    pthread_mutex_unlock(&guard->lock);
    return NULL;
}

static int start_thread(struct nccl_guard *guard)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&guard->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&guard->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return thread_start(&guard->thread, "guard", run, guard);
}

int nccl_guard_start(struct nccl_guard *guard, const struct watch *peers,
                     const struct nccl_lib *nccl, const struct backend_env *env,
                     int64_t limit_ns, struct error *err)
{
    if (!env->give_up)
        return 0;
    guard->nccl = nccl;
    guard->stop = env->stop;
    guard->give_up = env->give_up;
    guard->give_up_arg = env->give_up_arg;
    atomic_init(&guard->limit_ns, limit_ns);
    if (watch_follow(&guard->watch, peers, err))
        return -1;
    int status = start_thread(guard);
    if (status) {
        watch_release(&guard->watch);
        return error_set_errno(err, ERROR_INTERNAL, status, "guard thread");
    }
    guard->is_started = true;
    return 0;
}

void nccl_guard_set_leaving(struct nccl_guard *guard, int64_t limit_ns)
{
    atomic_store_explicit(&guard->limit_ns, limit_ns, memory_order_relaxed);
    atomic_store_explicit(&guard->is_leaving, true, memory_order_relaxed);
}

void nccl_guard_stop(struct nccl_guard *guard)
{
    if (!guard->is_started)
        return;
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
