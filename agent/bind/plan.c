/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - assigns CPUs to the ranks of a node, or explains why ranks are not bound */
#include "agent/bind/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

struct domain {
    hwloc_cpuset_t cpus; /* only CPUs that the agent may use */
    hwloc_obj_t *cores;  /* borrowed from the topology, in its order */
    size_t n_cores, n_ranks;
};

struct making {
    const struct bind_request *request;
    struct bind_plan *plan;
    struct domain *domains; /* room for one domain per rank */
    size_t n_domains;
    size_t *domain_of; /* by rank */
    size_t *place;     /* by rank: index among the ranks of the same domain */
};

static int set_obstacle(struct bind_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int set_obstacle(struct bind_plan *plan, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(plan->reason, sizeof(plan->reason), format, args);
    va_end(args);
    return -1;
}

static hwloc_cpuset_t copy_set(hwloc_const_cpuset_t set)
{
    hwloc_cpuset_t copy = hwloc_bitmap_dup(set);

    if (!copy)
        memory_out("a set of CPUs");
    return copy;
}

/* If the machine does not report cores, count each hardware thread as a core. */
static hwloc_obj_type_t core_type(hwloc_topology_t topology)
{
    return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE
                                                                  : HWLOC_OBJ_PU;
}

static void find_cores(struct domain *domain, hwloc_topology_t topology)
{
    hwloc_obj_type_t type = core_type(topology);
    hwloc_obj_t core = NULL;

    domain->cores = memory_zeroed((size_t)hwloc_get_nbobjs_by_type(topology, type) + 1,
                                  sizeof(*domain->cores), "cores");
    for (core = hwloc_get_next_obj_by_type(topology, type, core); core;
         core = hwloc_get_next_obj_by_type(topology, type, core))
        if (hwloc_bitmap_intersects(core->cpuset, domain->cpus))
            domain->cores[domain->n_cores++] = core;
}

/* Get the allowed CPUs near the rank's GPU. Returns -1 with the reason in the plan. */
static int find_near(const struct making *making, size_t rank, hwloc_cpuset_t cpus)
{
    const struct bind_request *request = making->request;
    const char *id = request->devices[rank];
    hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(request->topology, id);
    hwloc_obj_t near =
        device ? hwloc_get_non_io_ancestor_obj(request->topology, device) : NULL;

    if (!near)
        return set_obstacle(making->plan,
                            "GPU %.32s is not among the PCI devices of this host",
                            *id ? id : "(without a bus id)");
    if (hwloc_get_nbobjs_by_type(request->topology, HWLOC_OBJ_NUMANODE) > 1 &&
        hwloc_bitmap_isequal(near->nodeset,
                             hwloc_topology_get_topology_nodeset(request->topology)))
        return set_obstacle(
            making->plan, "this host does not report which cores are near GPU %.32s", id);
    hwloc_cpuset_from_nodeset(request->topology, cpus, near->nodeset);
    hwloc_bitmap_and(cpus, cpus, request->allowed);
    return hwloc_bitmap_iszero(cpus)
               ? set_obstacle(making->plan, "the agent may use no CPU near GPU %.32s", id)
               : 0;
}

/* Add the rank to the domain of these CPUs, and create the domain if it is new. Takes
 * ownership of `cpus`. */
static void join_domain(struct making *making, size_t rank, hwloc_cpuset_t cpus)
{
    size_t i = 0;

    while (i < making->n_domains && !hwloc_bitmap_isequal(making->domains[i].cpus, cpus))
        i++;
    if (i == making->n_domains) {
        making->domains[i].cpus = cpus;
        making->n_domains++;
        find_cores(&making->domains[i], making->request->topology);
    } else {
        hwloc_bitmap_free(cpus);
    }
    making->domain_of[rank] = i;
    making->place[rank] = making->domains[i].n_ranks++;
}

static int place_ranks(struct making *making)
{
    const struct bind_request *request = making->request;

    for (size_t rank = 0; rank < request->n_ranks; rank++) {
        hwloc_cpuset_t cpus = copy_set(request->allowed);

        if (request->devices && find_near(making, rank, cpus)) {
            hwloc_bitmap_free(cpus);
            return -1;
        }
        join_domain(making, rank, cpus);
    }
    return 0;
}

static int check_room(const struct making *making)
{
    for (size_t i = 0; i < making->n_domains; i++) {
        const struct domain *domain = &making->domains[i];

        if (domain->n_ranks > domain->n_cores)
            return set_obstacle(making->plan, "%zu ranks, but %zu core%s%s",
                                domain->n_ranks, domain->n_cores,
                                domain->n_cores == 1 ? "" : "s",
                                making->request->devices ? " near their GPUs" : "");
    }
    return 0;
}

/* Spread ranks evenly over the cores in the topology's order. Neighboring ranks then get
 * neighboring cores, and each memory domain gets its share. */
static void assign_cpus(struct making *making, size_t rank)
{
    const struct bind_request *request = making->request;
    const struct domain *domain = &making->domains[making->domain_of[rank]];
    hwloc_obj_t core =
        domain->cores[making->place[rank] * domain->n_cores / domain->n_ranks];
    hwloc_cpuset_t cpus;

    assert(core);
    cpus = copy_set(core->cpuset);
    if (making->plan->to == BIND_NUMA && request->devices)
        hwloc_bitmap_copy(cpus, domain->cpus);
    else if (making->plan->to == BIND_NUMA)
        hwloc_cpuset_from_nodeset(request->topology, cpus, core->nodeset);
    hwloc_bitmap_and(cpus, cpus, domain->cpus);
    making->plan->cpus[rank] = cpus;
}

static enum run_bind resolve(const struct bind_request *request)
{
    if (request->mode != BIND_AUTO)
        return request->mode;
    if (strcmp(request->backend, "sim") == 0)
        return BIND_NONE;
    return request->devices ? BIND_NUMA : BIND_CORE;
}

/* Returns -1 with the reason in the plan. */
static int make(struct making *making)
{
    const struct bind_request *request = making->request;
    size_t n = request->n_ranks;

    if (request->obstacle[0])
        return set_obstacle(making->plan, "%s", request->obstacle);
    making->domains = memory_zeroed(n + 1, sizeof(*making->domains), "a plan");
    making->domain_of = memory_zeroed(n + 1, sizeof(*making->domain_of), "a plan");
    making->place = memory_zeroed(n + 1, sizeof(*making->place), "a plan");
    making->plan->cpus = memory_zeroed(n + 1, sizeof(*making->plan->cpus), "a plan");
    if (place_ranks(making) || check_room(making))
        return -1;
    for (size_t rank = 0; rank < n; rank++)
        assign_cpus(making, rank);
    return 0;
}

static void release(struct making *making)
{
    for (size_t i = 0; i < making->n_domains; i++) {
        hwloc_bitmap_free(making->domains[i].cpus);
        free(making->domains[i].cores);
    }
    free(making->domains);
    free(making->domain_of);
    free(making->place);
}

/* Handle ranks that cannot be bound. This is an error, except with "auto", where the plan
 * keeps the reason. */
static int give_up(struct bind_plan *plan, const struct bind_request *request,
                   struct error *err)
{
    char reason[BIND_REASON_MAX];

    memcpy(reason, plan->reason, sizeof(reason));
    bind_plan_release(plan);
    memcpy(plan->reason, reason, sizeof(reason));
    return request->mode == BIND_AUTO ? 0
                                      : error_set(err, ERROR_INVALID, "bind %s: %s",
                                                  run_bind_name(request->mode), reason);
}

int bind_plan_make(struct bind_plan *plan, const struct bind_request *request,
                   struct error *err)
{
    struct making making = {.request = request, .plan = plan};
    int status;

    memset(plan, 0, sizeof(*plan));
    plan->to = resolve(request);
    plan->n_ranks = request->n_ranks;
    if (plan->to == BIND_NONE) {
        set_obstacle(plan, "%s",
                     request->mode == BIND_NONE ? "the run requests no binding"
                                                : "a simulation moves no bytes");
        return 0;
    }
    status = make(&making);
    release(&making);
    return status ? give_up(plan, request, err) : 0;
}

void bind_plan_release(struct bind_plan *plan)
{
    for (size_t i = 0; plan->cpus && i < plan->n_ranks; i++)
        hwloc_bitmap_free(plan->cpus[i]);
    free(plan->cpus);
    memset(plan, 0, sizeof(*plan));
    plan->to = BIND_NONE;
}

char *bind_plan_cpus(const struct bind_plan *plan, size_t rank)
{
    char *text = NULL;

    if (!plan->cpus || rank >= plan->n_ranks)
        return NULL;
    return hwloc_bitmap_list_asprintf(&text, plan->cpus[rank]) < 0 ? NULL : text;
}

json_t *bind_plan_json(const struct bind_plan *plan)
{
    json_t *cpus;

    if (plan->to == BIND_NONE)
        return json_pack("{s:s, s:s}", "to", run_bind_name(BIND_NONE), "reason",
                         plan->reason);
    cpus = json_array();
    for (size_t i = 0; i < plan->n_ranks; i++) {
        char *text = bind_plan_cpus(plan, i);

        json_array_append_new(cpus, json_string(text ? text : "?"));
        free(text);
    }
    return json_pack("{s:s, s:o}", "to", run_bind_name(plan->to), "cpus", cpus);
}
