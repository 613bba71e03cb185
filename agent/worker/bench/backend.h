/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - a backend runs the collectives: a table of functions for host memory, NCCL
 * or the simulation. The bench loop (bench.h) uses only this table.
 *
 * A communicator belongs to one thread. All ranks make the same calls in the same order,
 * except read, write, fill, memory and the destroy functions. After a failed call only
 * abort and destroy may follow. */
#ifndef RINGBENCH_WORKER_BENCH_BACKEND_H
#define RINGBENCH_WORKER_BENCH_BACKEND_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/worker/bench/choice.h"
#include "agent/worker/data/pattern.h"
#include "agent/worker/group/tree.h"
#include "common/base/error.h"
#include "common/spec/collective.h"
#include "common/spec/traffic.h"

struct backend_comm; /* defined by each backend */
struct backend_libraries;
struct case_file;
struct arrival;
struct timed;
struct timed_ns;
struct watchdog;

/* Borrowed until create returns, unless a member's comment differs. */
struct backend_env {
    int rank, world_size;
    int local_rank,
        local_world_size; /* rank and number of ranks among this agent's ranks */
    const struct backend_libraries *loaded; /* of struct backend */
    struct rendezvous_client *store;
    struct tree *tree;   /* connects all ranks of the case; outlives the communicator */
    const char *node;    /* the node's name */
    const char *address; /* where other nodes reach this node; NULL: loopback */
    const char *hostid;  /* replaces the host identity; NULL: none */
    const atomic_int *stop; /* non-zero: return ERROR_UNAVAILABLE soon; outlives comm */
    int64_t timeout_ms;     /* for the whole of create */
    /* Finished operations. An asynchronous backend updates the count while it waits, so
     * that long work does not look like a stall. NULL: not counted. */
    _Atomic uint64_t *finished;
    /* the server ends a case after a stall of this length; 0: unknown */
    int64_t stall_ms;
    struct watchdog *watchdog;        /* guards calls that may hang */
    struct attempt_observer observer; /* of unreachable addresses; outlives comm */
    const struct case_file *file;     /* outlives the communicator; NULL: none */
    /* A case may split its ranks into several communicators (groups). Collectives run
     * within a group, barriers and exchanges over all ranks of the case. With n_groups 0
     * or 1 all ranks form one group, and the members below are unset. */
    int n_groups, group;
    int place, group_size; /* this rank's number in its group, and the group's size */
    const int *members;    /* the group's ranks in the case; outlives the communicator */
};

static inline bool backend_env_is_split(const struct backend_env *env)
{
    return env->n_groups > 1;
}

static inline int backend_env_rank(const struct backend_env *env)
{
    return backend_env_is_split(env) ? env->place : env->rank;
}

static inline struct tree_config backend_env_tree(const struct backend_env *env)
{
    return (struct tree_config){.rank = env->rank,
                                .world_size = env->world_size,
                                .store = env->store,
                                .address = env->address,
                                .hostid = env->hostid,
                                .stop = env->stop,
                                .timeout_ms = env->timeout_ms,
                                .observer = env->observer};
}

static inline int backend_env_size(const struct backend_env *env)
{
    return backend_env_is_split(env) ? env->group_size : env->world_size;
}

/* One call of a collective. send and recv point into the buffers of alloc and hold
 * send_count and recv_count elements of collective_layout(). Ranks are those of the
 * communicator. */
struct backend_call {
    enum collective_kind kind;
    enum dtype dtype;
    int redop; /* enum redop, or -1: none */
    int root;  /* or -1: none */
    const void *send;
    void *recv;
    size_t count;
    const struct traffic_plan *traffic; /* alltoallv; else NULL */
    /* The first and the last call of a submission: ncclGroupStart and ncclGroupEnd. */
    bool opens_batch, closes_batch;
};

/* Bytes that this rank may allocate for the send and receive buffers together. */
struct backend_memory {
    uint64_t bytes;
    char text[200]; /* how `bytes` was determined, for a person */
};

/* The expected receive buffer of a rank that receives nothing: `byte` everywhere, except
 * for the rank's own input in elements own .. own_end-1. The call must not change this
 * buffer. */
struct backend_untouched {
    unsigned char byte;
    uint64_t own, own_end;
};

struct backend_compare {
    const struct pattern *pattern;
    const struct backend_call *call;
    int rank;
    unsigned ulps;
    uint64_t first, end;
    const struct backend_untouched *untouched; /* NULL: the rank receives */
};

struct backend_wrong {
    uint64_t count;
    uint64_t first; /* index of the first wrong element, if count > 0 */
};

/* The four tables that follow are optional. A table that is present defines all of its
 * functions. */

/* Generate and compare data on the device. A function returns 1 if the device cannot do
 * the work; the host then does it through write and read. */
struct backend_check {
    /* Write the first `count` elements that `rank` sends. */
    int (*put_input)(struct backend_comm *comm, const struct pattern *pattern, int rank,
                     size_t count, void *to, struct error *err);
    /* Compare elements first .. end-1 of call->recv with the expected result of `rank`.
     * Elements may differ by `ulps` units in the last place. */
    int (*find_wrong)(struct backend_comm *comm, const struct backend_compare *compare,
                      struct backend_wrong *out, struct error *err);
};

/* Graph capture (CUDA graphs). Calls between begin and end are recorded, not run. Do not
 * wait for recorded calls. */
struct backend_graph {
    /* Launches of the graph per row; 0: no graph. */
    long (*replays)(const struct backend_comm *comm);
    int (*begin)(struct backend_comm *comm, struct error *err);
    int (*end)(struct backend_comm *comm, struct error *err);
    /* Launch the graph. The signature is that of run, but `call` is ignored. */
    int (*replay)(struct backend_comm *comm, const struct backend_call *call,
                  struct error *err);
    void (*drop)(
        struct backend_comm *comm); /* destroy the graph, after its last launch */
};

/* Device events around submissions, to time each one. Without this table the host's clock
 * times the calls, which must be complete when they return. */
struct backend_laps {
    int (*begin)(struct backend_comm *comm, long n, struct error *err);
    /* Replace the backend's run and wait for n submissions: an event is recorded before
     * each submission and one after the last. */
    int (*run)(struct backend_comm *comm, const struct backend_call *call,
               struct error *err);
    int (*wait)(struct backend_comm *comm, struct error *err);
    /* Time of submission i in us. Call after wait. */
    int (*us)(struct backend_comm *comm, long i, double *us, struct error *err);
};

/* Replacements for the loops of timed.h if a model computes the times. */
struct backend_timing {
    int64_t (*now_ns)(const struct backend_comm *comm); /* NULL: CLOCK_MONOTONIC */
    int (*back_to_back)(struct timed *timed, struct timed_ns *out, struct error *err);
    int (*blocking)(struct timed *timed, struct timed_ns *out, struct error *err);
    int (*isolated)(struct timed *timed, struct timed_ns *out, struct arrival *arrival,
                    struct error *err);
};

struct backend {
    const char *name;
    unsigned collectives, dtypes, redops; /* bit masks of the supported values */
    /* Allowed error of a floating-point average, in units in the last place. 0 if the sum
     * is divided; more if inputs are scaled before the sum. */
    unsigned avg_ulps;
    bool is_async; /* run only enqueues; wait returns when the work is complete */
    /* Not real measurements: the probe's output, `hello` and every row are marked. */
    bool is_emulated;  /* test libraries replace CUDA and NCCL, and move the bytes */
    bool is_simulated; /* no bytes are moved */

    /* Optional: load these libraries and set the members that depend on them. Called
     * once, before all other functions. This call hangs if the driver hangs. */
    const char *libraries;
    void (*load)(struct backend *backend);
    struct backend_libraries *loaded; /* set by load; one block of malloc */

    /* {"available","reason","devices"} for --probe: a new reference, NULL only if out of
     * memory. Must work without a device. */
    json_t *(*probe)(const struct backend *backend);

    struct backend_comm *(*create)(const struct backend_env *env, struct error *err);
    /* Optional second half of create. If it fails, work may be in flight, and only abort
     * may follow. */
    int (*connect)(struct backend_comm *comm, const struct backend_env *env,
                   struct error *err);
    /* Destroy the communicator in order. Calls tree_leave when no peer needs this rank
     * any more. Accepts NULL. */
    void (*destroy)(struct backend_comm *comm);
    /* Destroy the communicator without waiting for peers or for work that hangs. */
    void (*abort)(struct backend_comm *comm);

    /* The transport as a string, for the event `phase: connected`. */
    json_t *(*transport)(struct backend_comm *comm);
    /* Optional: further keys for the event `phase: connected`, as a new object. */
    json_t *(*details)(struct backend_comm *comm);
    /* Optional: add marks to the row that every display must show. */
    void (*mark)(const struct backend_comm *comm, json_t *row);

    /* Optional: keys for the event `done`, as a new object. Called before destroy, after
     * success. */
    json_t *(*report)(struct backend_comm *comm);

    int (*memory)(struct backend_comm *comm, struct backend_memory *out,
                  struct error *err);
    /* Optional: true, with the reason, if the call is not possible on these GPUs. All
     * ranks of the case return the same answer. */
    bool (*refuses)(const struct backend_comm *comm, const struct backend_call *call,
                    char *reason, size_t size);
    /* Allocate two buffers of `bytes` each, aligned to 4096 bytes, with all pages mapped.
     * Called once. */
    int (*alloc)(struct backend_comm *comm, size_t bytes, void **send, void **recv,
                 struct error *err);

    /* write, read and fill are optional: without them the buffers are host memory. All
     * three have finished when they return. */
    int (*write)(struct backend_comm *comm, void *to, const void *host, size_t len,
                 struct error *err);
    int (*read)(struct backend_comm *comm, void *host, const void *from, size_t len,
                struct error *err);
    /* Repeat `size` bytes over `len` bytes. `size`: 1, or whole elements up to 64 KiB. */
    int (*fill)(struct backend_comm *comm, void *to, const void *element, size_t size,
                size_t len, struct error *err);

    /* Begin a collective. With is_async the work may continue after run has returned. */
    int (*run)(struct backend_comm *comm, const struct backend_call *call,
               struct error *err);
    /* Wait until all work is complete on this rank and results are readable. NULL: work
     * is complete when run returns. */
    int (*wait)(struct backend_comm *comm, struct error *err);
    /* Optional, for FAULT_SLOW: delay this rank's next operation. NULL: sleep. */
    int (*be_late)(struct backend_comm *comm, long us, struct error *err);

    /* Optional: start observing the algorithm; the next call is a row's first warm-up
     * call. */
    void (*watch)(struct backend_comm *comm);
    /* Optional: fill in the algorithm of the call that followed watch. That call has
     * ended. *out is zero. */
    void (*choice)(struct backend_comm *comm, const struct backend_call *call,
                   struct choice *out);

    const struct backend_check *check;   /* NULL: checks run on the host */
    const struct backend_graph *graph;   /* NULL: no graphs */
    const struct backend_laps *laps;     /* NULL: the host's clock is used */
    const struct backend_timing *timing; /* NULL: timed.h is used */
};

/* Mark an object of the worker's output (may be NULL) as emulated or simulated. */
static inline void backend_mark_unreal(const struct backend *backend, json_t *object)
{
    if (object && backend->is_emulated)
        json_object_set_new(object, "emulated", json_true());
    if (object && backend->is_simulated)
        json_object_set_new(object, "simulated", json_true());
}

#endif
