/* progress.c - how far the bench loop is, readable by another thread */
#include "agent/worker/bench/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/worker/base/thread.h"
#include "common/base/clock.h"
#include "common/base/time_scale.h"

#define INTERVAL_MS (int)scaled_ms(1000)
#define STOP_MS 4000 /* the contract allows 5 s from SIGTERM */

json_t *progress_describe(struct progress *progress)
{
    uint64_t begun = atomic_load_explicit(&progress->begun, memory_order_relaxed);
    uint64_t finished = atomic_load_explicit(&progress->finished, memory_order_relaxed);
    uint64_t first = atomic_load_explicit(&progress->first, memory_order_relaxed);
    const char *phase = begun > finished ? "enqueued" : "done";

    if (atomic_load_explicit(&progress->is_waiting, memory_order_relaxed))
        phase = "waiting";
    if (atomic_load_explicit(&progress->loading, memory_order_relaxed))
        phase = "loading";
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "op", (json_int_t)begun, "done",
        (json_int_t)(finished < begun ? finished : begun), "series",
        (json_int_t)atomic_load_explicit(&progress->series, memory_order_relaxed), "size",
        (json_int_t)atomic_load_explicit(&progress->size, memory_order_relaxed),
        "checked",
        (json_int_t)atomic_load_explicit(&progress->checked, memory_order_relaxed),
        "iteration", (json_int_t)(begun > first ? begun - first : 0), "phase", phase);
}

/* The loop is stuck where it cannot see the flag. */
static void end_process(struct progress *progress)
{
    const char *loading = atomic_load_explicit(&progress->loading, memory_order_relaxed);
    char text[128] = "told to stop; an operation did not end";

    if (loading)
        snprintf(text, sizeof(text), "told to stop while it was loading %s", loading);
    events_emit_last(progress->events, "done",
                     json_pack("{s:b, s:{s:s, s:s}}", "ok", 0, "error", "code",
                               "cancelled", "text", text));
    /* The rest of a library's log, unless the stuck thread holds the stream. */
    if (ftrylockfile(stdout) == 0)
        fflush_unlocked(stdout);
    _exit(1);
}

static void sleep_ms(struct progress *progress, int ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (ms % 1000) * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_cond_timedwait(&progress->wake, &progress->lock, &until);
}

static void *run(void *arg)
{
    struct progress *progress = arg;
    int64_t stopped_ns = 0;

    pthread_mutex_lock(&progress->lock);
    while (!progress->is_ending) {
        sleep_ms(progress, stopped_ns ? 100 : progress->interval_ms);
        if (progress->is_ending)
            break;
        int64_t now = clock_monotonic_ns();
        if (!atomic_load_explicit(progress->stop, memory_order_relaxed))
            events_emit(progress->events, "progress", progress_describe(progress));
        else if (stopped_ns == 0)
            stopped_ns = now;
        else if (now - stopped_ns > (STOP_MS - INTERVAL_MS) * INT64_C(1000000))
            end_process(progress);
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

int progress_start(struct progress *progress, struct events *events,
                   const atomic_int *stop, struct error *err)
{
    pthread_condattr_t attributes;

    memset(progress, 0, sizeof(*progress));
    progress->events = events;
    progress->stop = stop;
    progress->interval_ms = INTERVAL_MS;
    pthread_mutex_init(&progress->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    int status = thread_start(&progress->thread, "progress", run, progress);
    if (status)
        return error_set_errno(err, ERROR_INTERNAL, status, "progress thread");
    progress->is_started = true;
    return 0;
}

void progress_stop(struct progress *progress)
{
    if (!progress->is_started)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->is_ending = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->wake);
    pthread_mutex_destroy(&progress->lock);
    progress->is_started = false;
}
