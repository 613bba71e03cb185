/* SPDX-License-Identifier: Apache-2.0 */
/* binder.h - what an agent knows to bind ranks by: this host's topology, the CPUs that it
 * was given, and its GPUs */
#ifndef RINGBENCH_AGENT_BIND_BINDER_H
#define RINGBENCH_AGENT_BIND_BINDER_H

#include <jansson.h>

#include "agent/bind/plan.h"
#include "agent/link/command.h"
#include "common/base/error.h"

struct binder;

/* Looks at the topology, which takes milliseconds. Where there is none, plans say so. */
struct binder *binder_create(void);
void binder_destroy(struct binder *binder);

/* Add `machine` and `cpus` (those that this agent may use, as "0-3") to an inventory. */
void binder_describe(const struct binder *binder, json_t *inventory);

/* Plan for the ranks of a start command. inventory: where the backends' devices are;
 * n_live: the other cases that run here. As bind_plan_make. */
int binder_plan(const struct binder *binder, const struct command *command,
                const json_t *inventory, size_t n_live, struct bind_plan *plan,
                struct error *err);

/* The CPUs that the plan's ranks may use, all together; to be freed. */
hwloc_cpuset_t binder_cpus(const struct bind_plan *plan);

#endif
