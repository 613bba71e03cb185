/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - what carries the bytes of a benchmark: one table per kind of memory and
 * network. The bench loop (bench.h) knows nothing else of it.
 *
 * A communicator belongs to one thread. Every call that takes one is made by all ranks in
 * the same order, but for read, write, fill, memory and the destroy functions. A call
 * that fails leaves the communicator usable only for abort and destroy. */
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

struct backend_comm; /* each backend's own */
struct case_file;
struct arrival;
struct timed;
struct timed_ns;
struct watchdog;

/* What a communicator is made from; borrowed until create returns, but for `stop`. */
struct backend_env {
    int rank, world_size;
    int local_rank, local_world_size; /* among this agent's ranks */
    struct rendezvous_client *store;
    struct tree *tree;   /* connects all ranks of the case; outlives the communicator */
    const char *node;    /* the node's name */
    const char *address; /* where other nodes reach this one; NULL: loopback */
    const char *hostid;  /* replaces the host identity; NULL: none */
    const atomic_int *stop; /* non-zero: give up with ERROR_UNAVAILABLE, soon */
    int64_t timeout_ms;     /* for the whole of create */
    /* Operations finished: an asynchronous backend adds what it sees end while it waits,
     * so that long work does not look like a stall. NULL: nobody asks. */
    _Atomic uint64_t *finished;
    int64_t stall_ms;          /* after which the server gives the case up; 0: unknown */
    struct watchdog *watchdog; /* for calls that may not return */
    struct attempt_ear ear;    /* of addresses that cannot be reached; valid as `file` */
    /* The case, valid as long as the communicator; NULL: none. */
    const struct case_file *file;
    /* Where the case has several communicators at once: this rank's. n_groups 0 or 1: all
     * ranks form one, and the rest is not set. Barriers and exchanges are over all ranks
     * of the case in any case, collectives over the group. */
    int n_groups, group;
    int place, group_size; /* this rank within the group, which has so many */
    const int *members;    /* the group's ranks; valid as long as the communicator */
};

static inline bool backend_env_is_split(const struct backend_env *env)
{
    return env->n_groups > 1;
}

static inline int backend_env_rank(const struct backend_env *env)
{
    return backend_env_is_split(env) ? env->place : env->rank;
}

/* For what connects all ranks of the case. */
static inline struct tree_config backend_env_tree(const struct backend_env *env)
{
    return (struct tree_config){.rank = env->rank,
                                .world_size = env->world_size,
                                .store = env->store,
                                .address = env->address,
                                .hostid = env->hostid,
                                .stop = env->stop,
                                .timeout_ms = env->timeout_ms,
                                .ear = env->ear};
}

static inline int backend_env_size(const struct backend_env *env)
{
    return backend_env_is_split(env) ? env->group_size : env->world_size;
}

/* One collective. With layout L of collective_layout(): send holds L.send_count elements,
 * recv L.recv_count; both lie in the buffers that alloc gave. Ranks are the
 * communicator's. */
struct backend_call {
    enum collective_kind kind;
    enum dtype dtype;
    int redop; /* enum redop, or -1: none */
    int root;  /* or -1: none */
    const void *send;
    void *recv;
    size_t count;
    const struct traffic_plan *traffic; /* of alltoallv, else NULL */
    /* The first and the last of calls that are submitted as one where the backend can. */
    bool opens_batch, closes_batch;
};

/* What this rank may allocate for send and receive buffer together. */
struct backend_memory {
    uint64_t bytes;
    char text[200]; /* how the figure came about, for a person */
};

/* What the receive buffer of a rank that receives nothing holds before the call, and so
 * after it: this in every byte, but its own input from one element to before another. */
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
    const struct backend_untouched *untouched; /* NULL: it receives */
};

struct backend_wrong {
    uint64_t count;
    uint64_t first; /* index of the first one; only when count is not 0 */
};

/* Optional groups of a backend's functions: a backend has all of a group or none of it.
 */

/* The check's work where the data is. Both return 1 when that is not possible here; then
 * it is done through write and read. */
struct backend_check {
    /* What `rank` sends, `count` elements from the first. */
    int (*put_input)(struct backend_comm *comm, const struct pattern *pattern, int rank,
                     size_t count, void *to, struct error *err);
    /* Compare elements first .. end-1 of call->recv with what `rank` must receive, up to
     * `ulps` apart. */
    int (*find_wrong)(struct backend_comm *comm, const struct backend_compare *compare,
                      struct backend_wrong *out, struct error *err);
};

/* What is begun between begin and end is recorded, not run, as long as nothing is waited
 * for. */
struct backend_graph {
    /* How often a row's timed calls are to be run that way; 0: they are not. */
    long (*replays)(const struct backend_comm *comm);
    int (*begin)(struct backend_comm *comm, struct error *err);
    int (*end)(struct backend_comm *comm, struct error *err);
    /* In place of run: begin all of it. The call counts for nothing. */
    int (*replay)(struct backend_comm *comm, const struct backend_call *call,
                  struct error *err);
    void (*drop)(struct backend_comm *comm); /* forget it, once it has ended */
};

/* Events of the device between submissions. Without: the host's clock will do, since
 * calls are done when they return. */
struct backend_laps {
    int (*begin)(struct backend_comm *comm, long n, struct error *err);
    /* In place of the backend's own, n submissions and a wait: with an event before each
     * and one behind the last. */
    int (*run)(struct backend_comm *comm, const struct backend_call *call,
               struct error *err);
    int (*wait)(struct backend_comm *comm, struct error *err);
    /* After the wait: the time of submission i. */
    int (*us)(struct backend_comm *comm, long i, double *us, struct error *err);
};

/* How calls take time that only a model tells, in place of the functions of timed.h. */
struct backend_timing {
    int64_t (*now_ns)(const struct backend_comm *comm); /* NULL: CLOCK_MONOTONIC */
    int (*back_to_back)(struct timed *timed, struct timed_ns *out, struct error *err);
    int (*blocking)(struct timed *timed, struct timed_ns *out, struct error *err);
    int (*isolated)(struct timed *timed, struct timed_ns *out, struct arrival *arrival,
                    struct error *err);
};

struct backend {
    const char *name;
    unsigned collectives, dtypes, redops; /* bit masks of what it can do */
    /* How far the average of floating point numbers may be off, in units in the last
     * place: 0 where sums are divided, more where inputs are scaled beforehand. */
    unsigned avg_ulps;
    bool is_async; /* run only enqueues; wait returns when the work is complete */
    /* Nothing real is measured: probe, hello and every row say so. */
    bool is_emulated;  /* stand-ins for libraries move the bytes */
    bool is_simulated; /* no bytes are moved at all */

    /* Optional: load these libraries, and set the members that depend on them. Called
     * once, before the other functions. Hangs if the driver does. */
    const char *libraries;
    void (*load)(struct backend *backend);

    /* {"available","reason","devices"} for --probe; a new reference, never NULL unless
     * memory is out. Takes no communicator and may be called without any device. */
    json_t *(*probe)(void);

    struct backend_comm *(*create)(const struct backend_env *env, struct error *err);
    /* Optional second half of create, for what can fail with work under way: after a
     * failure only abort may follow. */
    int (*connect)(struct backend_comm *comm, const struct backend_env *env,
                   struct error *err);
    /* Orderly end: tree_leave once the peers need nothing more of this rank. NULL is
     * fine.
     */
    void (*destroy)(struct backend_comm *comm);
    /* End without waiting for anyone, also while work hangs. */
    void (*abort)(struct backend_comm *comm);

    /* A summary for the event `phase: connected`: a string. */
    json_t *(*transport)(struct backend_comm *comm);
    /* Optional: further keys of that event, a new object. */
    json_t *(*details)(struct backend_comm *comm);
    /* Optional: add to a row what must be known wherever it is shown. */
    void (*mark)(const struct backend_comm *comm, json_t *row);

    /* Optional: keys of the event `done`, a new object; before destroy, when all went
     * well. */
    json_t *(*report)(struct backend_comm *comm);

    int (*memory)(struct backend_comm *comm, struct backend_memory *out,
                  struct error *err);
    /* Optional: why such a call can't be made on these GPUs; false: it can. The same on
     * all ranks of the case. */
    bool (*refuses)(const struct backend_comm *comm, const struct backend_call *call,
                    char *reason, size_t size);
    /* Two buffers of `bytes` each, at least 4096-byte aligned, touched. Once. */
    int (*alloc)(struct backend_comm *comm, size_t bytes, void **send, void **recv,
                 struct error *err);

    /* These three are optional; without them buffers are host memory. Move bytes between
     * host memory and a buffer; complete on return. */
    int (*write)(struct backend_comm *comm, void *to, const void *host, size_t len,
                 struct error *err);
    int (*read)(struct backend_comm *comm, void *host, const void *from, size_t len,
                struct error *err);
    /* Repeat the `size` bytes (1, or whole elements of up to 64 KiB) over `len` bytes. */
    int (*fill)(struct backend_comm *comm, void *to, const void *element, size_t size,
                size_t len, struct error *err);

    /* Begin a collective; it may still be under way on return. */
    int (*run)(struct backend_comm *comm, const struct backend_call *call,
               struct error *err);
    /* Everything begun is complete on this rank: results readable. NULL: it is so when
     * run returns. */
    int (*wait)(struct backend_comm *comm, struct error *err);
    /* Optional: this rank is late by so much for the next operation; NULL: sleep. */
    int (*be_late)(struct backend_comm *comm, long us, struct error *err);

    /* Optional: the next call is the first of a row, before any that is timed. */
    void (*watch)(struct backend_comm *comm);
    /* Optional: it has ended, and this is how it was done; out is zero. */
    void (*choice)(struct backend_comm *comm, const struct backend_call *call,
                   struct choice *out);

    const struct backend_check *check;   /* NULL: on the host */
    const struct backend_graph *graph;   /* NULL: calls are not recorded */
    const struct backend_laps *laps;     /* NULL: the host's clock */
    const struct backend_timing *timing; /* NULL: timed.h measures */
};

/* Say on an object of the worker's output (may be NULL) that it is not measured. */
static inline void backend_mark_unreal(const struct backend *backend, json_t *object)
{
    if (object && backend->is_emulated)
        json_object_set_new(object, "emulated", json_true());
    if (object && backend->is_simulated)
        json_object_set_new(object, "simulated", json_true());
}

#endif
