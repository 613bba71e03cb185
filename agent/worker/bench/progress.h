/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - the bench loop's progress, readable by another thread
 *
 * The bench loop only stores to atomic counters. The watchdog sends the counters as an
 * event every second. */
#ifndef RINGBENCH_WORKER_BENCH_PROGRESS_H
#define RINGBENCH_WORKER_BENCH_PROGRESS_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
    _Alignas(128) _Atomic uint64_t begun; /* operations in the whole case */
    _Atomic uint64_t finished;
    _Atomic uint64_t checked; /* data blocks that a check has filled or compared */
    _Alignas(128) _Atomic uint64_t series, size,
        first; /* value of `begun` at the row's start */
    atomic_bool is_waiting;
    /* names of the libraries being loaded (static text), or NULL */
    _Atomic(const char *) loading;
};

/* Returns a new object. */
json_t *progress_describe(struct progress *progress);

static inline void progress_row(struct progress *progress, uint64_t series, uint64_t size)
{
    uint64_t begun = atomic_load_explicit(&progress->begun, memory_order_relaxed);
    atomic_store_explicit(&progress->series, series, memory_order_relaxed);
    atomic_store_explicit(&progress->size, size, memory_order_relaxed);
    atomic_store_explicit(&progress->first, begun, memory_order_relaxed);
}

static inline void progress_begin_many(struct progress *progress, uint64_t n)
{
    uint64_t begun = atomic_load_explicit(&progress->begun, memory_order_relaxed);
    atomic_store_explicit(&progress->begun, begun + n, memory_order_relaxed);
}

static inline void progress_begin(struct progress *progress)
{
    progress_begin_many(progress, 1);
}

/* Mark all operations that have begun as finished. */
static inline void progress_finish(struct progress *progress)
{
    uint64_t begun = atomic_load_explicit(&progress->begun, memory_order_relaxed);
    atomic_store_explicit(&progress->finished, begun, memory_order_relaxed);
}

static inline void progress_check(struct progress *progress)
{
    uint64_t checked = atomic_load_explicit(&progress->checked, memory_order_relaxed);
    atomic_store_explicit(&progress->checked, checked + 1, memory_order_relaxed);
}

static inline void progress_load(struct progress *progress, const char *libraries)
{
    atomic_store_explicit(&progress->loading, libraries, memory_order_relaxed);
}

static inline void progress_wait(struct progress *progress, bool is_waiting)
{
    atomic_store_explicit(&progress->is_waiting, is_waiting, memory_order_relaxed);
}

#endif
