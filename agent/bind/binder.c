/* SPDX-License-Identifier: Apache-2.0 */
/* binder.c - binds ranks by this host's topology, the agent's CPUs and its GPUs */
#include "agent/bind/binder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/bind/topology.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/this_machine.h"

#define MACHINE_MAX 128

struct binder {
    hwloc_topology_t topology; /* NULL: hwloc found none */
    char machine[MACHINE_MAX];
};

/* ---- start ---- */

/* The CPUs that this agent may use now; a batch system may change them while it runs.
 * Empty if unknown. */
static hwloc_cpuset_t read_allowed(void)
{
    cpu_set_t *set = this_machine_cpus();
    hwloc_cpuset_t cpus = hwloc_bitmap_alloc();

    if (!cpus)
        memory_out("a set of CPUs");
    for (unsigned cpu = 0; set && cpu < THIS_MACHINE_CPUS_MAX; cpu++)
        if (CPU_ISSET_S(cpu, THIS_MACHINE_CPUS_SIZE, set))
            hwloc_bitmap_set(cpus, cpu);
    CPU_FREE(set);
    return cpus;
}

/* The boot id, shared by all containers of a machine. Tests override it. */
static void name_machine(char text[MACHINE_MAX])
{
    const char *override = getenv("RINGBENCH_MACHINE");

    if (override && override[0])
        snprintf(text, MACHINE_MAX, "%s", override);
    else
        this_machine_boot_id(text, MACHINE_MAX);
}

struct binder *binder_create(void)
{
    struct binder *binder = memory_zeroed(1, sizeof(*binder), "a binder");

    binder->topology = topology_load("");
    if (!binder->topology)
        log_warn("ranks cannot be bound to cores: hwloc found no topology on this host");
    name_machine(binder->machine);
    return binder;
}

void binder_destroy(struct binder *binder)
{
    if (!binder)
        return;
    if (binder->topology)
        hwloc_topology_destroy(binder->topology);
    free(binder);
}

void binder_describe(const struct binder *binder, json_t *inventory)
{
    hwloc_cpuset_t allowed = read_allowed();
    char *text = NULL;

    if (hwloc_bitmap_list_asprintf(&text, allowed) < 0)
        memory_out("a list of CPUs");
    json_object_set_new(inventory, "machine", json_string(binder->machine));
    json_object_set_new(inventory, "cpus", json_string(text));
    free(text);
    hwloc_bitmap_free(allowed);
}

/* ---- a case ---- */

/* True if the run renumbers GPUs, so that the inventory's numbers do not match. */
static bool renumbers_gpus(const struct command *command)
{
    return strcmp(command->backend, "nccl") == 0 &&
           (json_object_get(command->env, "CUDA_VISIBLE_DEVICES") ||
            json_object_get(command->env, "CUDA_DEVICE_ORDER"));
}

/* Find a reason that prevents binding. Agents that share CPUs would all assign the same
 * cores, because each agent starts at the first core. */
static void find_obstacle(const struct binder *binder, const struct command *command,
                          size_t n_live, char obstacle[BIND_REASON_MAX])
{
    obstacle[0] = '\0';
    if (!binder->topology)
        snprintf(obstacle, BIND_REASON_MAX, "hwloc found no topology on this host");
    else if (command->agents_here > 1)
        snprintf(obstacle, BIND_REASON_MAX, "%d agents share this machine's CPUs",
                 command->agents_here);
    else if (n_live > 0)
        snprintf(obstacle, BIND_REASON_MAX, "another case runs on this node");
    else if (renumbers_gpus(command))
        snprintf(obstacle, BIND_REASON_MAX,
                 "the run sets CUDA_VISIBLE_DEVICES or CUDA_DEVICE_ORDER");
}

/* "" if the bus id is not known. */
static const char *bus_id_of(const json_t *devices, int index)
{
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);

        if (json_get_int(device, "index", -1) == index)
            return json_get_str(device, "pci_bus_id", "");
    }
    return "";
}

/* PCI bus ids by rank, borrowed from the inventory. NULL if the backend uses no GPUs. */
static const char **find_devices(const struct command *command, const json_t *inventory)
{
    const json_t *devices = json_object_get(
        json_object_get(json_object_get(inventory, "backends"), command->backend),
        "devices");
    const char **ids;

    if (strcmp(command->backend, "nccl") != 0)
        return NULL;
    ids = memory_zeroed(command->n_ranks + 1, sizeof(*ids), "devices");
    for (size_t i = 0; i < command->n_ranks; i++) {
        const struct command_rank *rank = &command->ranks[i];

        ids[i] = bus_id_of(devices, rank->device >= 0 ? rank->device : rank->local_rank);
    }
    return ids;
}

int binder_plan(const struct binder *binder, const struct command *command,
                const json_t *inventory, size_t n_live, struct bind_plan *plan,
                struct error *err)
{
    char obstacle[BIND_REASON_MAX];
    hwloc_cpuset_t allowed = read_allowed();
    const char **devices = find_devices(command, inventory);
    struct bind_request request = {
        .topology = binder->topology,
        .allowed = allowed,
        .mode = run_bind_lookup(json_get_str(command->spec, "bind", NULL)),
        .backend = command->backend,
        .n_ranks = command->n_ranks,
        .devices = devices,
        .obstacle = obstacle,
    };
    int status;

    find_obstacle(binder, command, n_live, obstacle);
    status = bind_plan_make(plan, &request, err);
    hwloc_bitmap_free(allowed);
    free(devices);
    return status;
}

hwloc_cpuset_t binder_cpus(const struct bind_plan *plan)
{
    hwloc_cpuset_t all = plan->cpus ? hwloc_bitmap_alloc() : read_allowed();

    if (!all)
        memory_out("a set of CPUs");
    for (size_t i = 0; plan->cpus && i < plan->n_ranks; i++)
        hwloc_bitmap_or(all, all, plan->cpus[i]);
    return all;
}
