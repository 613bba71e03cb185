/* SPDX-License-Identifier: Apache-2.0 */
/* affinity.h - the CPUs that the agent has given to this rank */
#ifndef RINGBENCH_WORKER_AFFINITY_H
#define RINGBENCH_WORKER_AFFINITY_H

#include <stdbool.h>

#include "common/base/error.h"

/* Keep this thread, and those that it starts, on CPUs such as "0,2-3"; NULL: wherever it
 * may run now. Before any other thread is started. */
int affinity_apply(const char *cpus, struct error *err);

/* Whether the agent has given CPUs: then no two ranks of this host want the same core. */
bool affinity_is_given(void);

/* What it gave (RINGBENCH_CPUS), or NULL. */
const char *affinity_given(void);

#endif
