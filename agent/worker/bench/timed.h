/* SPDX-License-Identifier: Apache-2.0 */
/* timed.h - the timed region: all that happens between two readings of the clock
 *
 * Calls are timed in one of three ways, which docs/explanation/method.md describes.
 * Between readings a rank calls run, wait and barrier and nothing else, apart from
 * counting its operations for the progress and looking at the flag that stops it. */
#ifndef RINGBENCH_WORKER_BENCH_TIMED_H
#define RINGBENCH_WORKER_BENCH_TIMED_H

#include "agent/worker/bench/arrival.h"
#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"
#include "agent/worker/bench/progress.h"

/* The functions of a backend, or of something that stands between it and the loop
 * (fault.h), and the communicator that they get. */
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
    struct backend_comm *comm; /* the backend's own */
    struct backend_call call;  /* the next one */
    const char *send;          /* its buffers at the first place */
    char *recv;
    size_t place, places, place_bytes; /* calls take one place after another */
    long iters;                        /* submissions */
    long batch;                        /* calls in each */
    uint64_t operations;               /* in each call: more than 1 in a graph's launch */
    enum blocking blocking;            /* which barriers timed_blocking has */
    bool is_async;                     /* calls may return before they have ended */
    int64_t *each_ns;                  /* time of each submission; NULL: not wanted */
    struct progress *progress;
    const atomic_int *stop;
};

struct timed_ns {
    int64_t enqueue_ns; /* until the submissions had returned */
    int64_t total_ns;
    int64_t in_ns, out_ns; /* of the barrier before them: came to it, left it */
};

/* One after another, and a wait at the end. */
int timed_back_to_back(struct timed *timed, struct timed_ns *out, struct error *err);

/* A wait after each submission, then a barrier, timed or not, where `blocking` says so.
 */
int timed_blocking(struct timed *timed, struct timed_ns *out, struct error *err);

/* A barrier, one submission, and a wait. */
int timed_isolated(struct timed *timed, struct timed_ns *out, struct arrival *arrival,
                   struct error *err);

#endif
