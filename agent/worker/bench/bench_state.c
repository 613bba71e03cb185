/* bench_state.c - what the parts of a benchmark share: the case, its buffers, its peers
 */
#include "agent/worker/bench/bench_state.h"

int bench_stopped(const struct bench *bench, struct error *err)
{
    if (atomic_load_explicit(bench->stop, memory_order_relaxed))
        return error_set(err, ERROR_UNAVAILABLE, "told to stop");
    return 0;
}

int bench_barrier(struct bench *bench, struct error *err)
{
    progress_wait(bench->progress, true);
    int status = bench->backend->barrier(bench->comm, err);
    progress_wait(bench->progress, false);
    return status;
}

int bench_allgather(struct bench *bench, const void *mine, size_t len, void *all,
                    struct error *err)
{
    progress_wait(bench->progress, true);
    int status = bench->backend->allgather(bench->comm, mine, len, all, err);
    progress_wait(bench->progress, false);
    return status;
}

int bench_group(const struct bench *bench)
{
    return bench->file->groups.of[bench->rank];
}

int bench_place(const struct bench *bench)
{
    return bench->file->groups.place[bench->rank];
}

int bench_group_size(const struct bench *bench)
{
    return bench->file->groups.sizes[bench_group(bench)];
}

long bench_replays(const struct bench *bench)
{
    const struct backend_graph *graph = bench->backend->graph;

    return graph ? graph->replays(bench->comm) : 0;
}
