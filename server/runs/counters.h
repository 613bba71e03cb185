/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - counters since the server's start, for /metrics */
#ifndef RINGBENCH_SERVER_RUNS_COUNTERS_H
#define RINGBENCH_SERVER_RUNS_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/histogram.h"

struct scheduler_counters {
    size_t nodes_idle, nodes_busy, nodes_lost;
    size_t runs_queued, runs_launching, runs_waiting;
    size_t runs_running; /* including runs in rendezvous */
    uint64_t runs_completed, runs_failed, runs_cancelled; /* since the server's start */
    uint64_t cases_started, events, results;
    uint64_t refused_batches; /* refused batches of events */
    struct histogram waited;  /* time from a run's request to its placement, seconds */
    /* number of times that the queue was checked for runs to place */
    uint64_t queue_looks;
};

#endif
