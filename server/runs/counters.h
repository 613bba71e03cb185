/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - what happened since the start, for /metrics */
#ifndef RINGBENCH_SERVER_RUNS_COUNTERS_H
#define RINGBENCH_SERVER_RUNS_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/histogram.h"

struct scheduler_counters {
    size_t nodes_idle, nodes_busy, nodes_lost;
    size_t runs_queued, runs_launching, runs_waiting;
    size_t runs_running; /* running includes rendezvous */
    uint64_t runs_completed, runs_failed, runs_cancelled; /* since the start */
    uint64_t cases_started, events, results;
    uint64_t refused_batches; /* of events */
    struct histogram waited;  /* of runs: from their request until they had nodes */
    uint64_t queue_looks;     /* for nodes for the runs that wait */
};

#endif
