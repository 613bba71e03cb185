/* SPDX-License-Identifier: Apache-2.0 */
/* affinity.h - bind this rank to the CPUs that the agent assigned */
#ifndef RINGBENCH_WORKER_AFFINITY_H
#define RINGBENCH_WORKER_AFFINITY_H

#include <stdbool.h>

#include "common/base/error.h"

/* Bind this thread, and the threads that it creates later, to a CPU list such as "0,2-3".
 * NULL changes nothing. Call before other threads start. */
int affinity_apply(const char *cpus, struct error *err);

/* True if the agent assigned CPUs. Then no two ranks of this host share a core. */
bool affinity_is_given(void);

/* The assigned CPUs (RINGBENCH_CPUS), or NULL. */
const char *affinity_given(void);

#endif
