/* bench_state.c - what the parts of a benchmark share: the case, its buffers, its peers
 */
#include "agent/worker/bench/bench_state.h"

#include <string.h>

int bench_stopped(const struct bench *bench, struct error *err)
{
    if (atomic_load_explicit(bench->stop, memory_order_relaxed))
        return error_set(err, ERROR_UNAVAILABLE, "told to stop");
    return 0;
}

int bench_ranks_here(const struct bench *bench)
{
    return bench->played ? bench->file->world_size : 1;
}

static void be(struct bench *bench, int rank)
{
    bench->rank = rank;
    bench->comm = bench->played[rank].comm;
    bench->progress = &bench->played[rank].progress;
}

int bench_each(struct bench *bench, bench_part *part, void *arg, struct error *err)
{
    int n = bench_ranks_here(bench), status = 0;

    if (!bench->played)
        return part(arg, 0, err);
    for (int i = 1; i <= n && !status; i++) {
        /* A rank that is to hang comes last: the others then have begun what it has not.
         */
        int rank = (bench->file->fault.rank + i) % n;

        be(bench, rank);
        progress_wait(bench->progress, false);
        status = part(arg, rank, err);
        if (status && err->code == ERROR_PEER && i < n)
            status = 0; /* kept in an operation until that one comes to it: never */
        else
            progress_wait(bench->progress, true);
    }
    be(bench, 0);
    return status;
}

const struct bench_row *bench_row_of(const struct bench *bench,
                                     const struct bench_row *rows)
{
    return bench->played ? &rows[bench_group(bench)] : rows;
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
    if (bench->played) {
        memcpy(all, mine, (size_t)bench->file->world_size * len);
        return 0;
    }
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
