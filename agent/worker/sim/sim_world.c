/* sim_world.c - what simulated communicators are made of, and all ranks of a case at once
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/worker/bench/case_file.h"
#include "agent/worker/sim/noise.h"
#include "agent/worker/sim/noise_parts.h"
#include "agent/worker/sim/sim.h"
#include "agent/worker/sim/sim_comm.h"

/* Other noise in each case of a run, but the same when a case is tried again. */
static void set_up_noise(struct sim_shared *shared, const struct case_file *file)
{
    const struct sim_params *params = &shared->params;
    uint64_t number = file ? (uint64_t)file->number : 0;
    uint64_t seed = params->seed >= 0 ? (uint64_t)params->seed : file ? file->seed : 1;
    uint64_t night = noise_night(params, seed);

    shared->case_noise =
        noise_of_run(params, seed) * noise_of_case(params, night, number);
    shared->seed = noise_split(night, number);
    if (shared->group > 0)
        shared->seed = noise_split(shared->seed, (uint64_t)shared->group);
}

/* The changes that come while the case runs. */
static int set_up_changes(struct sim_shared *shared, struct error *err)
{
    const char *rest = shared->params.changes;
    struct sim_item item;
    bool is_seconds;
    double at;

    while (sim_list_next(&rest, &item) > 0) {
        if (!sim_change_read(&item, &at, &is_seconds) || !is_seconds)
            continue;
        if (shared->n_changes == SIM_CHANGES_MAX)
            return error_set(err, ERROR_INVALID, "SIM_CHANGE: more than %d within a case",
                             SIM_CHANGES_MAX);
        shared->changes[shared->n_changes++] =
            (struct sim_change){.at_us = at * 1e6, .factor = item.value};
    }
    return 0;
}

/* The topology becomes that of the group. */
static int select_group(struct sim_shared *shared, const struct split_groups *groups,
                        struct error *err)
{
    struct sim_topology own;

    if (sim_topology_select(&shared->topology, groups, shared->group, &own, err))
        return -1;
    sim_topology_release(&shared->topology);
    shared->topology = own;
    return 0;
}

void sim_shared_destroy(struct sim_shared *shared)
{
    if (!shared)
        return;
    sim_topology_release(&shared->topology);
    free(shared);
}

static int set_up(struct sim_shared *shared, const struct sim_setting *setting,
                  struct error *err)
{
    const struct case_file *file = setting->file;
    bool is_split = file && file->groups.n > 1;

    shared->faulty = -1;
    if (sim_params_read(setting->environment, &shared->params, err) ||
        sim_topology_init(&shared->topology, setting->world_size,
                          file ? file->nodes : NULL, &shared->params, err))
        return -1;
    if (setting->shape)
        setting->shape(setting->shape_arg, &shared->topology);
    if (is_split && select_group(shared, &file->groups, err))
        return -1;
    shared->world_size = shared->topology.n_ranks;
    if (file && file->fault.kind != FAULT_NONE &&
        file->fault.rank < setting->world_size &&
        file->groups.of[file->fault.rank] == shared->group) {
        shared->fault = file->fault;
        shared->faulty = file->groups.place[file->fault.rank];
    }
    set_up_noise(shared, file);
    if (set_up_changes(shared, err))
        return -1;
    sim_model_init(&shared->model, &shared->params, &shared->topology);
    shared->model.traffic = file ? &file->spec->traffic : NULL;
    return 0;
}

struct sim_shared *sim_shared_create(const struct sim_setting *setting, int group,
                                     struct error *err)
{
    struct sim_shared *shared = calloc(1, sizeof(*shared));

    if (!shared) {
        error_set(err, ERROR_MEMORY, "communicator: out of memory");
        return NULL;
    }
    shared->group = group;
    if (set_up(shared, setting, err) == 0)
        return shared;
    sim_shared_destroy(shared);
    return NULL;
}

void sim_comm_release(struct backend_comm *comm)
{
    if (comm->buffers)
        munmap(comm->buffers, comm->buffer_bytes);
    if (comm->tree)
        sim_shared_destroy(comm->shared);
    free(comm);
}

struct backend_comm *sim_comm_create(struct sim_shared *shared, int place, int world_rank,
                                     const atomic_int *stop)
{
    struct backend_comm *comm = calloc(1, sizeof(*comm));

    if (!comm)
        return NULL;
    comm->shared = shared;
    comm->rank = place;
    comm->world_rank = world_rank;
    comm->stop = stop;
    comm->sleep_fraction = shared->params.sleep_fraction;
    return comm;
}

struct sim_world {
    int n_ranks, n_groups;
    struct sim_shared **groups;
    struct bench_rank *ranks;
};

void sim_world_destroy(struct sim_world *world)
{
    if (!world)
        return;
    for (int i = 0; world->ranks && i < world->n_ranks; i++)
        if (world->ranks[i].comm)
            sim_comm_release(world->ranks[i].comm);
    for (int i = 0; world->groups && i < world->n_groups; i++)
        sim_shared_destroy(world->groups[i]);
    free(world->ranks);
    free(world->groups);
    free(world);
}

/* Rank 0 sleeps for all of them. */
static int fill_world(struct sim_world *world, const struct sim_setting *setting,
                      const atomic_int *stop, struct error *err)
{
    const struct split_groups *groups = &setting->file->groups;

    for (int i = 0; i < world->n_groups; i++) {
        world->groups[i] = sim_shared_create(setting, i, err);
        if (!world->groups[i])
            return -1;
    }
    for (int i = 0; i < world->n_ranks; i++) {
        struct backend_comm *comm =
            sim_comm_create(world->groups[groups->of[i]], groups->place[i], i, stop);

        if (!comm)
            return error_set(err, ERROR_MEMORY, "simulated ranks: out of memory");
        if (i > 0)
            comm->sleep_fraction = 0;
        world->ranks[i].comm = comm;
    }
    return 0;
}

struct sim_world *sim_world_create(const struct sim_setting *setting,
                                   const atomic_int *stop, struct error *err)
{
    struct sim_world *world = calloc(1, sizeof(*world));

    if (world) {
        world->n_ranks = setting->world_size;
        world->n_groups = setting->file->groups.n;
        world->groups = calloc((size_t)world->n_groups, sizeof(struct sim_shared *));
        world->ranks = aligned_alloc(_Alignof(struct bench_rank),
                                     (size_t)world->n_ranks * sizeof(*world->ranks));
    }
    if (world && world->ranks)
        memset(world->ranks, 0, (size_t)world->n_ranks * sizeof(*world->ranks));
    if (!world || !world->groups || !world->ranks)
        error_set(err, ERROR_MEMORY, "simulated ranks: out of memory");
    else if (fill_world(world, setting, stop, err) == 0)
        return world;
    sim_world_destroy(world);
    return NULL;
}

struct bench_rank *sim_world_ranks(struct sim_world *world)
{
    return world->ranks;
}
