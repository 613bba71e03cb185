/* SPDX-License-Identifier: Apache-2.0 */
/* bench_state.h - what the parts of a benchmark share: the case, its buffers, its peers
 */
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
    struct tree *tree; /* the control plane, of all ranks of the case */
    const struct case_file *file;
    struct events *events;
    struct progress *progress;
    const atomic_int *stop;
    int rank; /* of the case */
    /* Set by bench_run. */
    char *send, *recv;   /* buffer_bytes + margin_bytes each */
    size_t buffer_bytes; /* the largest row that fits */
    struct row_memory memory;
    struct timed_data *data; /* see timed_data.h */
};

/* The group of ranks that this one communicates with, its number there, their count. */
int bench_group(const struct bench *bench);
int bench_place(const struct bench *bench);
int bench_group_size(const struct bench *bench);

/* How often a row's timed calls are replayed as a graph; 0: they are called. */
long bench_replays(const struct bench *bench);

/* Whether the process was told to stop: -1 with ERROR_UNAVAILABLE. */
int bench_stopped(const struct bench *bench, struct error *err);

/* As the backend's functions, which may be NULL. */
int bench_write(struct bench *bench, void *to, const void *host, size_t len,
                struct error *err);
int bench_read(struct bench *bench, void *host, const void *from, size_t len,
               struct error *err);
int bench_fill(const struct bench *bench, void *to, const void *element, size_t size,
               size_t len, struct error *err);
int bench_wait(struct bench *bench, struct error *err);

/* The control plane, shown as waiting in the progress. mine: `len` bytes; all: of each
 * rank. */
int bench_barrier(struct bench *bench, struct error *err);
int bench_allgather(struct bench *bench, const void *mine, size_t len, void *all,
                    struct error *err);

#endif
