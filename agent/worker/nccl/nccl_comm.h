/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_comm.h - a communicator over GPU memory (inside the NCCL backend) */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_COMM_H
#define RINGBENCH_WORKER_NCCL_NCCL_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/watchdog.h"
#include "agent/worker/group/tree.h"
#include "agent/worker/nccl/cuda_lib.h"
#include "agent/worker/nccl/gpu_clock.h"
#include "agent/worker/nccl/nccl_identity.h"
#include "agent/worker/nccl/nccl_lib.h"
#include "common/spec/run_spec.h"

/* The check's kernels; without them it is done on the host. */
struct nccl_kernels {
    cuda_kernel put_input, find_wrong; /* NULL: none */
    struct data_findings *findings;    /* device memory */
    void *tables;                      /* device memory, a pattern's two tables */
};

/* The timed calls as a CUDA graph, while there is one. */
struct nccl_graph {
    cuda_graph graph;
    cuda_graph_exec exec;
    uint64_t calls; /* recorded */
    bool is_capturing;
};

/* Events around iterations; they stay for the next row. */
struct nccl_laps {
    cuda_event *events;
    long n, next;
};

#define NCCL_MARKS 32

/* A place in the stream: when the GPU has passed it, `calls` more have ended. */
struct nccl_mark {
    cuda_event event; /* NULL: not made yet */
    uint64_t calls;
};

/* What was enqueued since the stream was last idle. Calls that take long are marked by
 * events, so that the progress of work that takes minutes is seen, and at most NCCL_MARKS
 * of them lie before the GPU. Short ones are not: nothing is added to what they cost. */
struct nccl_backlog {
    _Atomic uint64_t *finished; /* see backend_env */
    uint64_t calls, unmarked;
    int64_t begun_ns;
    enum collective_kind kind;
    bool is_slow, was_slow, is_in_group;
    struct nccl_mark marks[NCCL_MARKS]; /* a ring */
    unsigned first, n_marks;
};

/* Of the GPU's memory, what it has free at certain times. */
struct nccl_memory {
    size_t before_init, after_init, before_buffers, after_buffers;
};

struct backend_comm {
    struct cuda_lib cuda;
    struct nccl_lib nccl;
    struct tree *tree;
    int rank, world_size; /* of the communicator; those of the case are the tree's */
    int device;
    bool is_ring; /* the case has sendrecv alone */
    struct nccl_identity identity;
    char without_fp8[200]; /* see nccl_identity_older, of the case's; "": none is */
    int sharers;           /* ranks on this rank's GPU, this one among them */
    int64_t give_up_ns;    /* for one wait; 0: for ever */
    int64_t leave_ns;      /* for one call in the end; 0: for ever */
    cuda_stream stream;
    struct nccl_backlog backlog;
    struct nccl_graph graph;
    struct nccl_laps laps;
    bool has_plain_row;  /* the profiler named an algorithm for a row's calls */
    bool has_untold_row; /* NCCL told nothing of a row's calls; symmetric kernels are such
                          */
    struct watchdog *watchdog; /* the worker's */
    struct nccl_memory memory;
    struct gpu_clock clock;
    struct nccl_kernels kernels;
    nccl_comm comm;
    double init_s;
    int n_ids;
    struct nccl_options options; /* borrowed from the case */
    void *send, *recv;
    void *handles[2];            /* of local registration, NULL: none */
    nccl_window windows[2];      /* of symmetric registration, NULL: none */
    int premul_ops[DTYPE_COUNT]; /* mulsum's, 0: not made yet; no such operation is 0 */
    bool is_nccl_memory;         /* they come from ncclMemAlloc */
};

/* -1 with the reason when `code` is no success. */
int comm_cuda(struct backend_comm *comm, int code, const char *what, struct error *err);
/* The same of NCCL; when a peer is gone, that is the reason, and NCCL's words follow. */
int comm_nccl(struct backend_comm *comm, int result, const char *what, struct error *err);
/* -1: the peers' watch has failed; its reason, with NCCL's last error. */
int comm_lost(struct backend_comm *comm, struct error *err);

/* Until the stream is idle; gives up when NCCL reports an error, a peer dies, the process
 * is told to stop, or time is up. */
int comm_wait(struct backend_comm *comm, struct error *err);

/* A call of that kind follows. */
void backlog_begin(struct backend_comm *comm, enum collective_kind kind);
/* So many calls have been enqueued; the end of a group. Outside a group each call is
 * marked. Calls that are only recorded count when their graph is launched. */
int backlog_add(struct backend_comm *comm, uint64_t calls, struct error *err);
int backlog_mark(struct backend_comm *comm, struct error *err);
void backlog_release(struct backend_comm *comm);

/* nccl_init.c: form the communicator from the ids */
int comm_init(struct backend_comm *comm, const struct nccl_id *ids, int n_ids,
              int64_t timeout_ms, struct error *err);

/* nccl_calls.c; drop_operations: before the communicator ends */
void comm_drop_operations(struct backend_comm *comm);
int comm_run(struct backend_comm *comm, const struct backend_call *call,
             struct error *err);
bool comm_refuses(const struct backend_comm *comm, const struct backend_call *call,
                  char *reason, size_t size);

/* nccl_choice.c */
void comm_watch(struct backend_comm *comm);
void comm_choice(struct backend_comm *comm, const struct backend_call *call,
                 struct choice *out);

/* nccl_graph.c */
int comm_capture_begin(struct backend_comm *comm, struct error *err);
int comm_capture_end(struct backend_comm *comm, struct error *err);
int comm_replay(struct backend_comm *comm, const struct backend_call *call,
                struct error *err);
void comm_capture_drop(struct backend_comm *comm);

/* nccl_laps.c */
int comm_laps_begin(struct backend_comm *comm, long n, struct error *err);
int comm_lap_run(struct backend_comm *comm, const struct backend_call *call,
                 struct error *err);
int comm_lap_wait(struct backend_comm *comm, struct error *err);
int comm_lap_us(struct backend_comm *comm, long i, double *us, struct error *err);
void comm_laps_release(struct backend_comm *comm);

/* nccl_memory.c */
int comm_memory(struct backend_comm *comm, struct backend_memory *out, struct error *err);
size_t comm_free_bytes(struct backend_comm *comm); /* 0: CUDA does not say */
int comm_malloc(struct backend_comm *comm, void **out, size_t bytes); /* CUDA's code */
void comm_mem_free(struct backend_comm *comm, void *memory);
/* {"init_bytes","buffer_bytes"...}: what has been taken by now; a new object. */
json_t *comm_describe_memory(struct backend_comm *comm, bool is_end);
int comm_alloc(struct backend_comm *comm, size_t bytes, void **send, void **recv,
               struct error *err);
void comm_deregister(struct backend_comm *comm); /* before the communicator ends */
void comm_free(struct backend_comm *comm);
int comm_write(struct backend_comm *comm, void *to, const void *host, size_t len,
               struct error *err);
int comm_read(struct backend_comm *comm, void *host, const void *from, size_t len,
              struct error *err);
int comm_fill(struct backend_comm *comm, void *to, const void *element, size_t size,
              size_t len, struct error *err);

/* nccl_kernels.c; load leaves the kernels out where there are none. */
int kernels_load(struct backend_comm *comm, struct error *err);
void kernels_unload(struct backend_comm *comm);
int kernels_put_input(struct backend_comm *comm, const struct pattern *pattern, int rank,
                      size_t count, void *to, struct error *err);
int kernels_find_wrong(struct backend_comm *comm, const struct backend_compare *compare,
                       struct backend_wrong *out, struct error *err);

#endif
