/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_comm.h - the communicator of the NCCL backend (internal to the backend) */
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

/* Kernels that fill and check data. Without kernels the host does this work. */
struct nccl_kernels {
    struct cuda_driver driver;
    cuda_function put_input, find_wrong; /* NULL: none */
    struct data_findings *findings;      /* in device memory */
    /* the two tables of a pattern, in device memory */
    void *tables;
};

/* The timed calls of a row as a CUDA graph. */
struct nccl_graph {
    cuda_graph graph;
    cuda_graph_exec exec;
    uint64_t calls; /* number of calls captured in the graph */
    bool is_capturing;
};

/* CUDA events around iterations, reused by later rows. */
struct nccl_laps {
    cuda_event *events;
    long n, next;
};

#define NCCL_MARKS 32

/* An event in the stream. When the GPU reaches it, `calls` more calls have finished. */
struct nccl_mark {
    cuda_event event; /* NULL: not created */
    uint64_t calls;
};

/* Calls enqueued since the stream was last idle. An event follows each slow call, so that
 * progress is visible during work of minutes. At most NCCL_MARKS events are pending. Fast
 * calls get no events, which would add to their cost. */
struct nccl_backlog {
    /* counter of finished calls that struct backend_env provides */
    _Atomic uint64_t *finished;
    uint64_t calls, unmarked;
    int64_t begun_ns;
    enum collective_kind kind;
    bool is_slow, was_slow, is_in_group;
    struct nccl_mark marks[NCCL_MARKS]; /* a ring */
    unsigned first, n_marks;
};

/* Free GPU memory in bytes, before and after init and the allocation of buffers. */
struct nccl_memory {
    size_t before_init, after_init, before_buffers, after_buffers;
};

struct backend_comm {
    struct cuda_lib cuda;
    struct nccl_lib nccl;
    struct tree *tree;
    /* in the communicator; `tree` has the rank and size in the case */
    int rank, world_size;
    int device;
    bool is_ring; /* true if the case's only collective is sendrecv */
    struct nccl_identity identity;
    /* describes a GPU of the case that lacks fp8 arithmetic; "": none */
    char without_fp8[200];
    int sharers;        /* ranks on this rank's GPU, including itself */
    int64_t give_up_ns; /* time limit of one call; 0: none */
    int64_t leave_ns;   /* time limit of one call after all work is done; 0: none */
    cuda_stream stream;
    struct nccl_backlog backlog;
    struct nccl_graph graph;
    struct nccl_laps laps;
    bool has_plain_row; /* the profiler reported an algorithm for a row */
    /* the profiler reported no algorithm for a row: a symmetric kernel may have run */
    bool has_unknown_row;
    struct watchdog *watchdog;
    struct nccl_memory memory;
    struct gpu_clock clock;
    struct nccl_kernels kernels;
    nccl_comm comm;
    double init_s;
    int n_ids;
    struct nccl_options options; /* borrowed from the case file */
    void *send, *recv;
    void *handles[2];            /* local registration of send and recv; NULL: none */
    nccl_window windows[2];      /* symmetric registration of send and recv; NULL: none */
    int premul_ops[DTYPE_COUNT]; /* operators of mulsum; 0: not created */
    bool is_nccl_memory;         /* send and recv come from ncclMemAlloc */
};

/* 0 on success, else -1 with CUDA's error. */
int comm_cuda(struct backend_comm *comm, int code, const char *what, struct error *err);
/* Like comm_cuda(), for a result of NCCL. If a peer is lost, the error names the peer
 * before NCCL's text. */
int comm_nccl(struct backend_comm *comm, int result, const char *what, struct error *err);
/* Call after watch_check() has failed. Returns -1; *err includes NCCL's last error. */
int comm_lost(struct backend_comm *comm, struct error *err);

/* Wait until the stream is idle. Fails if NCCL reports an error, a peer dies, a stop is
 * requested, or the time limit is reached. */
int comm_wait(struct backend_comm *comm, struct error *err);

/* Call before each collective, with its kind. */
void backlog_begin(struct backend_comm *comm, enum collective_kind kind);
/* Count enqueued calls, and mark them with an event if calls are slow. Calls within a
 * group are marked only by backlog_mark, at the group's end. Captured calls count when
 * their graph is launched. */
int backlog_add(struct backend_comm *comm, uint64_t calls, struct error *err);
int backlog_mark(struct backend_comm *comm, struct error *err);
void backlog_release(struct backend_comm *comm);

/* in nccl_init.c: create the NCCL communicator from the unique ids */
int comm_init(struct backend_comm *comm, const struct nccl_id *ids, int n_ids,
              int64_t timeout_ms, struct error *err);

/* in nccl_calls.c; call comm_drop_operations before destroying the communicator */
void comm_drop_operations(struct backend_comm *comm);
int comm_run(struct backend_comm *comm, const struct backend_call *call,
             struct error *err);
bool comm_refuses(const struct backend_comm *comm, const struct backend_call *call,
                  char *reason, size_t size);

/* in nccl_choice.c */
void comm_watch(struct backend_comm *comm);
void comm_choice(struct backend_comm *comm, const struct backend_call *call,
                 struct choice *out);

/* in nccl_graph.c */
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

/* in nccl_memory.c */
int comm_memory(struct backend_comm *comm, struct backend_memory *out, struct error *err);
size_t comm_free_bytes(struct backend_comm *comm); /* 0: not known */
/* returns CUDA's result code */
int comm_malloc(struct backend_comm *comm, void **out, size_t bytes);
void comm_mem_free(struct backend_comm *comm, void *memory);
/* GPU memory used so far: {"init_bytes","buffer_bytes","end_bytes"}, a new object. */
json_t *comm_describe_memory(struct backend_comm *comm, bool is_end);
int comm_alloc(struct backend_comm *comm, size_t bytes, void **send, void **recv,
               struct error *err);
/* call before destroying the communicator */
void comm_deregister(struct backend_comm *comm);
void comm_free(struct backend_comm *comm);
int comm_write(struct backend_comm *comm, void *to, const void *host, size_t len,
               struct error *err);
int comm_read(struct backend_comm *comm, void *host, const void *from, size_t len,
              struct error *err);
int comm_fill(struct backend_comm *comm, void *to, const void *element, size_t size,
              size_t len, struct error *err);

/* in nccl_kernels.c; kernels_load succeeds even if no kernel can run on this GPU */
int kernels_load(struct backend_comm *comm, struct error *err);
void kernels_unload(struct backend_comm *comm);
int kernels_put_input(struct backend_comm *comm, const struct pattern *pattern, int rank,
                      size_t count, void *to, struct error *err);
int kernels_find_wrong(struct backend_comm *comm, const struct backend_compare *compare,
                       struct backend_wrong *out, struct error *err);

#endif
