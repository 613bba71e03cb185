/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - assigns CPUs to the ranks of a node, or explains why ranks are not bound
 *
 * The plan depends only on the topology and the request, so tests can supply synthetic
 * hosts. */
#ifndef RINGBENCH_AGENT_BIND_PLAN_H
#define RINGBENCH_AGENT_BIND_PLAN_H

#include <hwloc.h>
#include <jansson.h>

#include "common/base/error.h"
#include "common/spec/run_spec.h"

#define BIND_REASON_MAX 300

struct bind_request {
    hwloc_topology_t topology;
    hwloc_const_cpuset_t allowed; /* ranks get only CPUs of this set */
    enum run_bind mode;
    const char *backend;
    size_t n_ranks;
    const char *const *devices; /* by rank: the GPU's PCI bus id, "" if unknown; NULL:
                                   the ranks have no GPUs */
    const char *obstacle;       /* a reason that prevents all binding, or "" */
};

struct bind_plan {
    enum run_bind to; /* BIND_CORE, BIND_NUMA, or BIND_NONE with a reason */
    char reason[BIND_REASON_MAX];
    hwloc_cpuset_t *cpus; /* by rank; NULL: not bound */
    size_t n_ranks;
};

/* "auto" binds a rank of the host backend to a core and a rank of NCCL to the memory
 * domain of its GPU. It binds no simulated rank. It also binds nothing if there are more
 * ranks than cores, if a GPU's location is unknown, or if there is an obstacle;
 * plan->reason contains the cause. Other modes fail with -1 in these cases. Release the
 * plan in any case. */
int bind_plan_make(struct bind_plan *plan, const struct bind_request *request,
                   struct error *err);
void bind_plan_release(struct bind_plan *plan);

/* A rank's CPUs as "0,2-3"; the caller frees the text. NULL if the rank is not bound. */
char *bind_plan_cpus(const struct bind_plan *plan, size_t rank);

/* {"to", "cpus": [by rank]} or {"to": "none", "reason"}. Returns a new reference. */
json_t *bind_plan_json(const struct bind_plan *plan);

#endif
