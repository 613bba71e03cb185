/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - which CPUs each rank of a node gets, and why none if none
 *
 * Knows the topology and what it is told, nothing of this host: tests give it hosts that
 * are made up. */
#ifndef RINGBENCH_AGENT_BIND_PLAN_H
#define RINGBENCH_AGENT_BIND_PLAN_H

#include <hwloc.h>
#include <jansson.h>

#include "common/base/error.h"
#include "common/spec/run_spec.h"

#define BIND_REASON_MAX 300

struct bind_request {
    hwloc_topology_t topology;
    hwloc_const_cpuset_t allowed; /* no CPU outside of it is given to anyone */
    enum run_bind word;
    const char *backend;
    size_t n_ranks;
    const char *const *devices; /* by rank: the GPU's PCI bus id, "" if it is not known;
                                   NULL: the ranks have none */
    const char *obstacle;       /* why nothing can be bound, whatever the ranks; or "" */
};

struct bind_plan {
    enum run_bind to; /* BIND_CORE, BIND_NUMA, or BIND_NONE with a reason */
    char reason[BIND_REASON_MAX];
    hwloc_cpuset_t *cpus; /* by rank; NULL: not bound */
    size_t n_ranks;
};

/* "auto" is a core for each rank of the host backend, the memory domain of its GPU for
 * one of NCCL, nothing in a simulation; and nothing where it would do harm: more ranks
 * than cores, a device of unknown place, the obstacle. -1 where another word can't be
 * followed; release the plan in any case. */
int bind_plan_make(struct bind_plan *plan, const struct bind_request *request,
                   struct error *err);
void bind_plan_release(struct bind_plan *plan);

/* A rank's CPUs as "0,2-3", to be freed; NULL: not bound, or memory is out. */
char *bind_plan_cpus(const struct bind_plan *plan, size_t rank);

/* {"to", "cpus": [by rank]} or {"to": "none", "reason"}. A new reference. */
json_t *bind_plan_json(const struct bind_plan *plan);

#endif
