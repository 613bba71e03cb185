/* SPDX-License-Identifier: Apache-2.0 */
/* bench_state.c - the state that the bench files share: case, buffers, peers */
#include "agent/worker/bench/bench_state.h"

#include <string.h>

int bench_stopped(const struct bench *bench, struct error *err)
{
    if (atomic_load_explicit(bench->stop, memory_order_relaxed))
        return error_set(err, ERROR_UNAVAILABLE, "stopped on request");
    return 0;
}

int bench_write(struct bench *bench, void *to, const void *host, size_t len,
                struct error *err)
{
    if (bench->backend->write)
        return bench->backend->write(bench->comm, to, host, len, err);
    memcpy(to, host, len);
    return 0;
}

int bench_read(struct bench *bench, void *host, const void *from, size_t len,
               struct error *err)
{
    if (bench->backend->read)
        return bench->backend->read(bench->comm, host, from, len, err);
    memcpy(host, from, len);
    return 0;
}

int bench_fill(const struct bench *bench, void *to, const void *element, size_t size,
               size_t len, struct error *err)
{
    char *out = to;
    size_t done = len < size ? len : size;

    if (bench->backend->fill)
        return bench->backend->fill(bench->comm, to, element, size, len, err);
    memcpy(out, element, done);
    while (done < len) {
        size_t part = len - done < done ? len - done : done;
        part = part < (1u << 16) ? part : (1u << 16);
        memcpy(out + done, out, part);
        done += part;
    }
    return 0;
}

int bench_wait(struct bench *bench, struct error *err)
{
    return bench->backend->wait ? bench->backend->wait(bench->comm, err) : 0;
}

int bench_barrier(struct bench *bench, struct error *err)
{
    progress_wait(bench->progress, true);
    int status = tree_barrier(bench->tree, err);
    progress_wait(bench->progress, false);
    return status;
}

int bench_allgather(struct bench *bench, const void *mine, size_t len, void *all,
                    struct error *err)
{
    progress_wait(bench->progress, true);
    int status = tree_allgather(bench->tree, mine, len, all, err);
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
