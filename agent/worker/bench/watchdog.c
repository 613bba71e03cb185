/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.c - the thread that observes the worker's main thread */
#include "agent/worker/bench/watchdog.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/worker/base/thread.h"
#include "common/base/clock.h"
#include "common/base/time_scale.h"

#define PROGRESS_MS (int)scaled_ms(1000)
#define GUARD_MS 50
#define STOPPING_MS 100
#define STOP_MS 4000       /* less than the 5 s after SIGTERM that the contract allows */
#define GRACE_NS 300000000 /* time for a call to return after a stop or a loss */

/* The watchdog's view of the main thread. */
struct view {
    uint64_t passes;
    /* time when the watchdog first saw the main thread inside the current call */
    int64_t begun_ns;
    int64_t noticed_ns; /* time of a stop or a loss during this call; 0: none */
    int64_t told_ns;    /* time of the last progress event */
    int64_t stopped_ns; /* time when the watchdog saw SIGTERM; 0: not yet */
};

static bool is_stopped(const struct watchdog *watchdog)
{
    return atomic_load_explicit(watchdog->stop, memory_order_relaxed) != 0;
}

static void end(struct watchdog *watchdog, const struct error *error, int lost)
{
    watchdog->give_up(watchdog->give_up_arg, error, lost);
}

/* ---- Hanging calls ---- */

static const char *library_of(const char *what)
{
    return strncmp(what, "cu", 2) == 0 ? "CUDA" : "NCCL";
}

static const char *library_error(struct watchdog *watchdog, char text[WATCHDOG_MORE_MAX])
{
    return watchdog->more(watchdog->more_arg, text);
}

static void report_stop(struct watchdog *watchdog, const char *what, double inside_s)
{
    struct error error = {0};

    error_set(&error, ERROR_UNAVAILABLE, "stopped while inside %s (%s) for %.1f s",
              library_of(what), what, inside_s);
    end(watchdog, &error, -1);
}

static void report_loss(struct watchdog *watchdog, const char *what, double inside_s)
{
    char last[WATCHDOG_MORE_MAX];
    struct error error = {0};

    error_set(&error, ERROR_PEER, "%s. %s (%s) still waits for that rank after %.1f s%s",
              watchdog->tree->watch.error.text, library_of(what), what, inside_s,
              library_error(watchdog, last));
    end(watchdog, &error, watchdog->tree->watch.lost);
}

static void report_timeout(struct watchdog *watchdog, const char *what, int64_t limit_ns)
{
    char last[WATCHDOG_MORE_MAX];
    struct error error = {0};

    error_set(&error, ERROR_TIMEOUT, "%s (%s) has not returned in %.0f s%s",
              library_of(what), what, (double)limit_ns / 1e9,
              library_error(watchdog, last));
    if (atomic_load_explicit(&watchdog->is_dispensable, memory_order_relaxed))
        error.code = ERROR_NONE;
    end(watchdog, &error, -1);
}

static bool has_lost(struct watchdog *watchdog)
{
    return !atomic_load_explicit(&watchdog->is_leaving, memory_order_relaxed) &&
           watch_check(&watchdog->tree->watch) && watchdog->tree->watch.lost >= 0;
}

static void check_call(struct watchdog *watchdog, struct view *view, int64_t now)
{
    uint64_t passes = atomic_load_explicit(&watchdog->passes, memory_order_acquire);
    const char *what = atomic_load_explicit(&watchdog->what, memory_order_relaxed);
    int64_t limit_ns = atomic_load_explicit(&watchdog->limit_ns, memory_order_relaxed);
    double inside_s = (double)(now - view->begun_ns) / 1e9;
    bool has_stopped = is_stopped(watchdog);

    if (passes % 2 == 0 || passes != view->passes) {
        view->passes = passes;
        view->begun_ns = now;
        view->noticed_ns = 0;
    } else if (has_stopped || has_lost(watchdog)) {
        view->noticed_ns = view->noticed_ns ? view->noticed_ns : now;
        if (now - view->noticed_ns <= GRACE_NS)
            return;
        if (has_stopped)
            report_stop(watchdog, what, inside_s);
        else
            report_loss(watchdog, what, inside_s);
    } else if (limit_ns && now - view->begun_ns > limit_ns) {
        report_timeout(watchdog, what, limit_ns);
    }
}

/* ---- The thread ---- */

/* Report that the main thread has not noticed the stop request in time. */
static void report_ignored_stop(struct watchdog *watchdog)
{
    const char *loading =
        atomic_load_explicit(&watchdog->progress->loading, memory_order_relaxed);
    struct error error = {0};

    if (loading)
        error_set(&error, ERROR_UNAVAILABLE, "stopped while it was loading %s", loading);
    else
        error_set(&error, ERROR_UNAVAILABLE,
                  "stopped on request, but an operation did not return");
    end(watchdog, &error, -1);
}

/* Warn that a peer is silent. The peer may still answer; only a longer silence ends the
 * case. */
static void report_silence(struct watchdog *watchdog)
{
    char text[400];

    if (watchdog->tree && tree_has_silence(watchdog->tree, text, sizeof(text)))
        events_emit(watchdog->events, "log",
                    json_pack("{s:s, s:s}", "level", "warn", "text", text));
}

static void check(struct watchdog *watchdog, struct view *view)
{
    int64_t now = clock_monotonic_ns();

    if (watchdog->tree)
        tree_poll(watchdog->tree);
    if (watchdog->is_guarding)
        check_call(watchdog, view, now);
    if (is_stopped(watchdog)) {
        view->stopped_ns = view->stopped_ns ? view->stopped_ns : now;
        if (now - view->stopped_ns > (STOP_MS - PROGRESS_MS) * INT64_C(1000000))
            report_ignored_stop(watchdog);
    } else if (now - view->told_ns >= PROGRESS_MS * INT64_C(1000000)) {
        view->told_ns = now;
        report_silence(watchdog);
        events_emit(watchdog->events, "progress", progress_describe(watchdog->progress));
    }
}

/* Sleep with the lock released. An event of the tree or a wake-up ends the sleep. */
static void sleep_ms(struct watchdog *watchdog, int ms)
{
    struct pollfd fds[2] = {
        {.fd = watchdog->wake_fd, .events = POLLIN},
        {.fd = watchdog->tree ? tree_fd(watchdog->tree) : -1, .events = POLLIN}};
    eventfd_t value;

    pthread_mutex_unlock(&watchdog->lock);
    poll(fds, 2, ms);
    eventfd_read(watchdog->wake_fd, &value);
    pthread_mutex_lock(&watchdog->lock);
}

static void *run(void *arg)
{
    struct watchdog *watchdog = arg;
    struct view view = {.told_ns = clock_monotonic_ns()};

    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->is_ending) {
        sleep_ms(watchdog, watchdog->is_guarding ? GUARD_MS
                           : view.stopped_ns     ? STOPPING_MS
                                                 : PROGRESS_MS);
        if (!watchdog->is_ending)
            check(watchdog, &view);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

int watchdog_start(struct watchdog *watchdog, struct progress *progress,
                   struct events *events, const atomic_int *stop,
                   watchdog_give_up *give_up, void *arg, struct error *err)
{
    memset(watchdog, 0, sizeof(*watchdog));
    watchdog->progress = progress;
    watchdog->events = events;
    watchdog->stop = stop;
    watchdog->give_up = give_up;
    watchdog->give_up_arg = arg;
    watchdog->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watchdog->wake_fd < 0)
        return error_set_errno(err, ERROR_INTERNAL, errno,
                               "cannot start the watchdog thread");
    pthread_mutex_init(&watchdog->lock, NULL);
    int status = thread_start(&watchdog->thread, "watchdog", run, watchdog);
    if (status)
        return error_set_errno(err, ERROR_INTERNAL, status,
                               "cannot start the watchdog thread");
    watchdog->is_started = true;
    return 0;
}

static void wake(struct watchdog *watchdog)
{
    eventfd_write(watchdog->wake_fd, 1);
}

void watchdog_stop(struct watchdog *watchdog)
{
    if (!watchdog->is_started)
        return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->is_ending = true;
    wake(watchdog);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    pthread_mutex_destroy(&watchdog->lock);
    close(watchdog->wake_fd);
    watchdog->is_started = false;
}

void watchdog_follow(struct watchdog *watchdog, struct tree *tree)
{
    if (!watchdog)
        return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->tree = tree;
    wake(watchdog);
    pthread_mutex_unlock(&watchdog->lock);
}

void watchdog_guard(struct watchdog *watchdog, int64_t limit_ns, watchdog_more *more,
                    void *more_arg)
{
    pthread_mutex_lock(&watchdog->lock);
    watchdog->more = more;
    watchdog->more_arg = more_arg;
    watchdog->is_guarding = true;
    watchdog_set_limit(watchdog, limit_ns);
    wake(watchdog);
    pthread_mutex_unlock(&watchdog->lock);
}

void watchdog_unguard(struct watchdog *watchdog)
{
    pthread_mutex_lock(&watchdog->lock);
    watchdog->is_guarding = false;
    pthread_mutex_unlock(&watchdog->lock);
}

void watchdog_set_leaving(struct watchdog *watchdog, int64_t limit_ns)
{
    watchdog_set_limit(watchdog, limit_ns);
    atomic_store_explicit(&watchdog->is_leaving, true, memory_order_relaxed);
}
