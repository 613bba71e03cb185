/* SPDX-License-Identifier: Apache-2.0 */
/* bench_state.h - the state that the bench files share: case, buffers, peers */
#ifndef RINGBENCH_WORKER_BENCH_BENCH_STATE_H
#define RINGBENCH_WORKER_BENCH_BENCH_STATE_H

#include <stdatomic.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"
#include "agent/worker/bench/events.h"
#include "agent/worker/bench/progress.h"
#include "agent/worker/bench/row.h"
#include "common/base/error.h"

struct bench {
    const struct backend *backend;
    struct backend_comm *comm;
    struct tree *tree; /* control tree over all ranks of the case */
    const struct case_file *file;
    struct events *events;
    struct progress *progress;
    const atomic_int *stop;
    int rank; /* in the case */
    /* Set by bench_run. */
    char *send, *recv;   /* buffer_bytes + margin_bytes each */
    size_t buffer_bytes; /* size of the largest row that fits */
    struct row_memory memory;
    struct timed_data *data;
};

/* This rank's group, its place in the group, and the group's size. */
int bench_group(const struct bench *bench);
int bench_place(const struct bench *bench);
int bench_group_size(const struct bench *bench);

/* Number of launches of the graph that contains a row's timed calls; 0: no graph. */
long bench_replays(const struct bench *bench);

/* -1 with ERROR_UNAVAILABLE if a stop was requested. */
int bench_stopped(const struct bench *bench, struct error *err);

/* Without the backend's functions, use host memory. */
int bench_write(struct bench *bench, void *to, const void *host, size_t len,
                struct error *err);
int bench_read(struct bench *bench, void *host, const void *from, size_t len,
               struct error *err);
int bench_fill(const struct bench *bench, void *to, const void *element, size_t size,
               size_t len, struct error *err);
int bench_wait(struct bench *bench, struct error *err);

/* tree_barrier and tree_allgather, with the phase "waiting" in the progress. `all`
 * receives `len` bytes from each rank. */
int bench_barrier(struct bench *bench, struct error *err);
int bench_allgather(struct bench *bench, const void *mine, size_t len, void *all,
                    struct error *err);

#endif
