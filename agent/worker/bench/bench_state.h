/* bench_state.h - what the parts of a benchmark share: the case, its buffers, its peers
 */
#ifndef RINGBENCH_WORKER_BENCH_BENCH_STATE_H
#define RINGBENCH_WORKER_BENCH_BENCH_STATE_H

#include <stdatomic.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"
#include "agent/worker/bench/events.h"
#include "agent/worker/bench/progress.h"
#include "common/base/error.h"

/* One of the ranks of a case that a single process plays. */
struct bench_rank {
    struct backend_comm *comm;
    struct progress progress;
};

struct bench {
    const struct backend *backend;
    struct backend_comm *comm;
    const struct case_file *file;
    struct events *events;
    struct progress *progress;
    const atomic_int *stop;
    int rank; /* of the case */
    /* All ranks of the case, where this process plays them: it is one after the other,
     * and comm, progress and rank are those of the one that it is. NULL: it has one. */
    struct bench_rank *played;
    /* Set by bench_run. */
    char *send, *recv;       /* buffer_bytes + margin_bytes each */
    size_t buffer_bytes;     /* the largest row that fits */
    size_t margin_bytes;     /* for buffers that are to lie unaligned */
    uint64_t share_bytes;    /* what the poorest rank may allocate */
    char memory_text[300];   /* how that came about */
    struct timed_data *data; /* see timed_data.h */
};

/* A row under way. */
struct bench_row {
    struct series_row row;
    struct collective_layout layout;
    struct backend_call call; /* send and recv at offset 0 */
    char *recv_base;          /* of the whole receive side, as call.recv out of place */
    size_t offsets;           /* places in the buffers that calls rotate over */
    struct traffic_plan *traffic; /* of alltoallv, else NULL */
    /* Other groups measure a row that this one cannot: take part in what all ranks do. */
    bool is_idle;
};

/* The group of ranks that this one communicates with, its number there, their count. */
int bench_group(const struct bench *bench);
int bench_place(const struct bench *bench);
int bench_group_size(const struct bench *bench);

/* Ranks that this process has: one, or all of the case. */
int bench_ranks_here(const struct bench *bench);

/* Do a part of the work as each of them, rank 0 last if nobody is to hang; `i` is a place
 * among them. Barriers in a part wait for nobody where there are several, since all the
 * others are here. */
typedef int bench_part(void *arg, int i, struct error *err);
int bench_each(struct bench *bench, bench_part *part, void *arg, struct error *err);

/* The row that this rank measures. rows: its own group's, or, where all ranks are here,
 * those of all groups. */
const struct bench_row *bench_row_of(const struct bench *bench,
                                     const struct bench_row *rows);

/* How often a row's timed calls are replayed as a graph; 0: they are called. */
long bench_replays(const struct bench *bench);

/* Whether the process was told to stop: -1 with ERROR_UNAVAILABLE. */
int bench_stopped(const struct bench *bench, struct error *err);

/* The control plane, shown as waiting in the progress. mine: `len` bytes of each rank
 * here; all: of each rank. */
int bench_barrier(struct bench *bench, struct error *err);
int bench_allgather(struct bench *bench, const void *mine, size_t len, void *all,
                    struct error *err);

#endif
