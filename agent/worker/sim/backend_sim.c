/* backend_sim.c - collectives that only take time: the backend's table */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/worker/bench/expected.h"
#include "agent/worker/sim/noise_parts.h"
#include "agent/worker/sim/sim.h"
#include "agent/worker/sim/sim_comm.h"
#include "common/base/json_util.h"

#define GIB 1073741824.0

static json_t *sim_probe(void)
{
    char *const none[] = {NULL};
    struct sim_params params;

    sim_params_read(none, &params, NULL);
    return json_pack("{s:b, s:n, s:[{s:i, s:s, s:s, s:I}]}", "available", 1, "reason",
                     "devices", "index", 0, "name", "simulated device", "kind", "sim",
                     "memory_bytes", (json_int_t)(params.memory_gib * GIB));
}

static struct backend_comm *sim_create(const struct backend_env *env, struct error *err)
{
    struct tree_config config = backend_env_tree(env);
    struct sim_setting setting = {
        .file = env->file, .world_size = env->world_size, .environment = environ};
    int group = backend_env_is_split(env) ? env->group : 0;
    struct sim_shared *shared = sim_shared_create(&setting, group, err);
    struct backend_comm *comm =
        shared ? sim_comm_create(shared, backend_env_rank(env), env->rank, env->stop)
               : NULL;

    if (shared && !comm)
        error_set(err, ERROR_MEMORY, "communicator: out of memory");
    if (comm)
        comm->tree = tree_create(&config, err);
    if (comm && comm->tree) {
        comm->watchdog = env->watchdog;
        watchdog_follow(comm->watchdog, comm->tree);
        return comm;
    }
    if (comm)
        sim_comm_release(comm);
    sim_shared_destroy(shared);
    return NULL;
}

static void drop_tree(struct backend_comm *comm)
{
    watchdog_follow(comm->watchdog, NULL);
    tree_destroy(comm->tree);
}

static void sim_destroy(struct backend_comm *comm)
{
    if (comm) {
        tree_leave(comm->tree);
        drop_tree(comm);
        sim_comm_release(comm);
    }
}

static void sim_abort(struct backend_comm *comm)
{
    if (comm) {
        drop_tree(comm);
        sim_comm_release(comm);
    }
}

static json_t *sim_transport(struct backend_comm *comm)
{
    (void)comm;
    return json_string("simulated");
}

/* Rank 0 says it for all. */
static json_t *sim_details(struct backend_comm *comm)
{
    const struct sim_shared *shared = comm->shared;
    const struct sim_params *params = &shared->params;
    json_t *details = json_pack("{s:b}", "simulated", 1);

    if (details && comm->rank == 0) {
        json_object_set_new(details, "model",
                            json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "nodes",
                                      shared->topology.n_nodes, "latency_us",
                                      params->latency_us, "intra_latency_us",
                                      params->intra_latency_us, "bandwidth_gbs",
                                      params->bandwidth_gbs, "intra_bandwidth_gbs",
                                      params->intra_bandwidth_gbs, "noise", params->noise,
                                      "sleep_fraction", params->sleep_fraction, "faults",
                                      sim_topology_faults(&shared->topology, params)));
    }
    return details;
}

/* Which way of doing it the last call's time was of. */
static void sim_choice(struct backend_comm *comm, const struct backend_call *call,
                       struct choice *out)
{
    const struct sim_estimate *estimate = &comm->shared->estimate;
    const struct sim_params *params = &comm->shared->params;

    (void)call;
    snprintf(out->algo, sizeof(out->algo), "%s", sim_algorithm_name(estimate->algorithm));
    snprintf(out->proto, sizeof(out->proto), "%s", sim_protocol_name(estimate->protocol));
    snprintf(out->by, sizeof(out->by), "model");
    out->is_unrequested = estimate->algorithm != SIM_P2P &&
                          !(params->algorithms & 1u << estimate->algorithm &&
                            params->protocols & 1u << estimate->protocol);
}

static int sim_memory(struct backend_comm *comm, struct backend_memory *out,
                      struct error *err)
{
    double gib = comm->shared->params.memory_gib;

    out->bytes = (uint64_t)(gib * GIB);
    snprintf(out->text, sizeof(out->text), "SIM_MEMORY_GIB=%g", gib);
    (void)err;
    return 0;
}

/* Addresses, but no memory: who touches it ends there. */
static int sim_alloc(struct backend_comm *comm, size_t bytes, void **send, void **recv,
                     struct error *err)
{
    size_t each = (bytes + 4095) / 4096 * 4096;
    void *at = mmap(NULL, 2 * each, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED) {
        return error_set(err, ERROR_MEMORY, "no address space for 2 buffers of %zu bytes",
                         each);
    }
    comm->buffers = at;
    comm->buffer_bytes = 2 * each;
    *send = at;
    *recv = (char *)at + each;
    return 0;
}

/* ---- what is in the buffers ---- */

static int sim_write(struct backend_comm *comm, void *to, const void *host, size_t len,
                     struct error *err)
{
    if (len > sizeof(comm->spoiled))
        return error_set(err, ERROR_INTERNAL, "a simulation keeps no data");
    comm->spoiled_at = to;
    comm->spoiled_len = len;
    memcpy(comm->spoiled, host, len);
    return 0;
}

static int sim_read(struct backend_comm *comm, void *host, const void *from, size_t len,
                    struct error *err)
{
    const struct backend_call *call = &comm->result;
    size_t size = dtype_size(call->dtype);
    const char *at = from;

    if (!comm->pattern || len != size)
        return error_set(err, ERROR_INTERNAL, "a simulation keeps no data");
    if (comm->spoiled_at == at) {
        memcpy(host, comm->spoiled, len);
        return 0;
    }
    expected_elements(comm->pattern, call, comm->rank,
                      (uint64_t)(at - (const char *)call->recv) / size, 1, host);
    return 0;
}

static int sim_fill(struct backend_comm *comm, void *to, const void *element, size_t size,
                    size_t len, struct error *err)
{
    (void)to;
    (void)element;
    (void)size;
    (void)len;
    (void)err;
    comm->pattern = NULL;
    comm->spoiled_at = NULL;
    return 0;
}

static int sim_put_input(struct backend_comm *comm, const struct pattern *pattern,
                         int rank, size_t count, void *to, struct error *err)
{
    (void)rank;
    (void)count;
    (void)to;
    (void)err;
    comm->pattern = pattern;
    comm->spoiled_at = NULL;
    return 0;
}

static int sim_find_wrong(struct backend_comm *comm,
                          const struct backend_compare *compare,
                          struct backend_wrong *out, struct error *err)
{
    const struct backend_call *call = compare->call;
    size_t size = dtype_size(call->dtype);
    unsigned char expected[8];

    (void)err;
    out->count = 0;
    if (!comm->spoiled_at || compare->untouched)
        return 0;
    uint64_t index = (uint64_t)(comm->spoiled_at - (const char *)call->recv) / size;
    if (index < compare->first || index >= compare->end)
        return 0;
    expected_elements(compare->pattern, call, compare->rank, index, 1, expected);
    if (memcmp(expected, comm->spoiled, size) != 0) {
        out->count = 1;
        out->first = index;
    }
    return 0;
}

/* ---- time ---- */

static int sim_run(struct backend_comm *comm, const struct backend_call *call,
                   struct error *err)
{
    if (call->opens_batch)
        comm->batch_waited = false;
    comm->in_batch = comm->in_batch || call->opens_batch;
    comm->result = *call;
    int status = sim_comm_spend(comm, call, err);
    comm->in_batch = comm->in_batch && !call->closes_batch;
    return status;
}

static int sim_wait(struct backend_comm *comm, struct error *err)
{
    return sim_comm_settle(comm, err);
}

static int sim_be_late(struct backend_comm *comm, long us, struct error *err)
{
    return sim_comm_be_late(comm, (double)us, err);
}

static int sim_barrier(struct backend_comm *comm, struct error *err)
{
    return comm->tree ? tree_barrier(comm->tree, err) : 0;
}

static int sim_allgather(struct backend_comm *comm, const void *mine, size_t len,
                         void *all, struct error *err)
{
    return tree_allgather(comm->tree, mine, len, all, err);
}

static int sim_lost_peer(const struct backend_comm *comm)
{
    return comm->tree ? comm->tree->watch.lost : -1;
}

static const struct backend_check check = {sim_put_input, sim_find_wrong};

const struct backend backend_sim = {
    .name = "sim",
    .collectives = (1u << COLLECTIVE_COUNT) - 1,
    .dtypes = (1u << DTYPE_COUNT) - 1,
    .redops = (1u << REDOP_COUNT) - 1,
    .is_simulated = true,
    .probe = sim_probe,
    .create = sim_create,
    .destroy = sim_destroy,
    .abort = sim_abort,
    .transport = sim_transport,
    .details = sim_details,
    .choice = sim_choice,
    .memory = sim_memory,
    .alloc = sim_alloc,
    .write = sim_write,
    .read = sim_read,
    .fill = sim_fill,
    .run = sim_run,
    .wait = sim_wait,
    .be_late = sim_be_late,
    .barrier = sim_barrier,
    .allgather = sim_allgather,
    .lost_peer = sim_lost_peer,
    .check = &check,
    .timing = &sim_timing,
};
