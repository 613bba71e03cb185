/* SPDX-License-Identifier: Apache-2.0 */
/* services.h - bundles the services that all modules in this folder share: the store, the
 * clock, the next tick */
#ifndef RINGBENCH_SERVER_RUNS_SERVICES_H
#define RINGBENCH_SERVER_RUNS_SERVICES_H

#include "common/base/clock.h"
#include "server/runs/counters.h"
#include "server/runs/wake.h"

struct store;

/* Borrowed services that live until the scheduler is freed. */
struct services {
    struct store *store;
    const struct clock *clock; /* NULL: the system's clock */
    struct wake *wake;
    struct scheduler_counters *counters; /* since the server's start */
};

#endif
