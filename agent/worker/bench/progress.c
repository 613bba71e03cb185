/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - the bench loop's progress, readable by another thread */
#include "agent/worker/bench/progress.h"

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
