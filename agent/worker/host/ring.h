/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - a chain of transfers from the previous rank to the next, reduced on the way */
#ifndef RINGBENCH_WORKER_HOST_RING_H
#define RINGBENCH_WORKER_HOST_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/worker/host/host_comm.h"

/* In each step a rank sends one piece to the next rank and receives one from the
 * previous, both at once. The receive of a step begins when the send of the step before
 * has ended, so a piece received two steps ago may be overwritten. */
struct ring_step {
    const char *send;
    size_t send_len; /* 0: nothing */
    bool
        is_chained; /* what is sent is what the step before received: follow it closely */
    char *recv;
    size_t recv_len;  /* 0: nothing */
    const char *own;  /* not NULL: recv = own op what comes */
    bool is_raw;      /* with own: what comes is the previous rank's input, no sum yet */
    bool is_complete; /* with own: this was the last input; an average is divided here */
};

/* Describe step t. */
typedef void ring_plan_fn(const void *arg, size_t t, struct ring_step *step);

int ring_run(struct backend_comm *comm, const struct backend_call *call,
             struct endpoint *next, struct endpoint *prev, ring_plan_fn *plan,
             const void *arg, size_t steps);

#endif
