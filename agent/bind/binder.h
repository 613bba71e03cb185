/* SPDX-License-Identifier: Apache-2.0 */
/* binder.h - binds ranks by this host's topology, the agent's CPUs and its GPUs */
#ifndef RINGBENCH_AGENT_BIND_BINDER_H
#define RINGBENCH_AGENT_BIND_BINDER_H

#include <jansson.h>

#include "agent/bind/plan.h"
#include "agent/link/command.h"
#include "common/base/error.h"

struct binder;

/* Read the topology, which takes milliseconds. Without a topology, ranks stay unbound and
 * each plan contains the reason. */
struct binder *binder_create(void);
void binder_destroy(struct binder *binder);

/* Add the members `machine` and `cpus` (the CPUs that this agent may use, such as "0-3").
 */
void binder_describe(const struct binder *binder, json_t *inventory);

/* Plan for the ranks of a start command. `inventory` lists the backends' devices,
 * `n_live` counts the other cases on this node. Returns the same values as
 * bind_plan_make(). */
int binder_plan(const struct binder *binder, const struct command *command,
                const json_t *inventory, size_t n_live, struct bind_plan *plan,
                struct error *err);

/* Return the CPUs of the agent if no rank is bound. The caller frees the set. */
hwloc_cpuset_t binder_cpus(const struct bind_plan *plan);

#endif
