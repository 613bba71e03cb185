/* SPDX-License-Identifier: Apache-2.0 */
/* timed.h - the timed region: everything that runs between two readings of the clock
 *
 * A row uses one of three loops, which docs/explanation/method.md compares. Inside the
 * region a rank calls only run, wait and barrier, updates its progress counters and
 * reads the stop flag. */
#ifndef RINGBENCH_WORKER_BENCH_TIMED_H
#define RINGBENCH_WORKER_BENCH_TIMED_H

#include "agent/worker/bench/arrival.h"
#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"
#include "agent/worker/bench/progress.h"

/* The functions under test and their communicator: the backend's own, or those of a
 * wrapper around it (fault.h). */
struct timed_calls {
    int (*run)(struct backend_comm *comm, const struct backend_call *call,
               struct error *err);
    int (*wait)(struct backend_comm *comm, struct error *err);
    struct backend_comm *comm;
    int (*barrier)(struct tree *tree, struct error *err); /* NULL: none */
    struct tree *tree;
};

struct timed {
    struct timed_calls calls;
    struct backend_comm *comm; /* the backend's own, also when `calls` is wrapped */
    struct backend_call call;  /* send and recv move with `place` */
    const char *send;          /* buffers at place 0 */
    char *recv;
    size_t place, places, place_bytes; /* offset of the next call and number of offsets,
                                          in units of place_bytes */
    long iters;                        /* submissions */
    long batch;                        /* calls per submission: nccl-tests' -m */
    uint64_t operations;    /* collectives per call: several in a graph launch */
    enum blocking blocking; /* waits and barriers of timed_blocking */
    bool is_async;          /* run may return before its work has finished */
    int64_t *each_ns;       /* out: time of each submission; NULL: not recorded */
    struct progress *progress;
    const atomic_int *stop; /* non-zero: return ERROR_UNAVAILABLE */
};

struct timed_ns {
    int64_t enqueue_ns; /* time inside submissions, without waits */
    int64_t total_ns;   /* time until the work has finished */
    /* times at which this rank entered and left the barrier before the calls */
    int64_t in_ns, out_ns;
};

/* Submit everything, then wait once: nccl-tests' default. */
int timed_back_to_back(struct timed *timed, struct timed_ns *out, struct error *err);

/* Wait after each submission. `blocking` decides whether a barrier follows the wait and
 * whether it is timed: nccl-tests' -z. */
int timed_blocking(struct timed *timed, struct timed_ns *out, struct error *err);

/* Time one submission and its wait. The clock starts after a barrier. */
int timed_isolated(struct timed *timed, struct timed_ns *out, struct arrival *arrival,
                   struct error *err);

#endif
