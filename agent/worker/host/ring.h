/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - run the steps of a ring algorithm: receive, reduce, forward */
#ifndef RINGBENCH_WORKER_HOST_RING_H
#define RINGBENCH_WORKER_HOST_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/worker/host/host_comm.h"

/* In each step a rank concurrently sends a piece to the next rank and receives a piece
 * from the previous rank. The receive of a step starts after the send of the previous
 * step. It may therefore overwrite a piece that was received two steps earlier. */
struct ring_step {
    const char *send;
    size_t send_len; /* 0: nothing */
    /* true if this step forwards the previous step's piece while it is still arriving */
    bool is_chained;
    char *recv;
    size_t recv_len; /* 0: nothing */
    const char *own; /* not NULL: recv = own op received data */
    bool is_raw;     /* with `own`: the received data is an input, not a partial sum */
    /* with `own`: the sum is complete, so an average can be divided now */
    bool is_complete;
};

/* Fill in step t. The caller has zeroed *step. */
typedef void ring_plan_fn(const void *arg, size_t t, struct ring_step *step);

int ring_run(struct backend_comm *comm, const struct backend_call *call,
             struct endpoint *next, struct endpoint *prev, ring_plan_fn *plan,
             const void *arg, size_t steps);

#endif
