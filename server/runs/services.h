/* SPDX-License-Identifier: Apache-2.0 */
/* services.h - services shared by all modules in this folder: the store, the clock, the
 * next tick */
#ifndef RINGBENCH_SERVER_RUNS_SERVICES_H
#define RINGBENCH_SERVER_RUNS_SERVICES_H

#include "common/base/clock.h"
#include "server/runs/counters.h"
#include "server/runs/wake.h"

struct store;

/* Borrowed; they live until the scheduler is freed. */
struct services {
    struct store *store;
    const struct clock *clock; /* NULL: the system's */
    struct wake *wake;
    struct scheduler_counters *counters; /* since the start */
};

#endif
