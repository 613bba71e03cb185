/* SPDX-License-Identifier: Apache-2.0 */
/* backend_sim.c - the simulated backend: collectives take time but move no data */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/worker/sim/sim_comm.h"
#include "common/base/memory.h"

static json_t *sim_probe(const struct backend *backend)
{
    (void)backend;
    return json_pack("{s:b, s:n, s:[{s:i, s:s, s:s, s:I}]}", "available", 1, "reason",
                     "devices", "index", 0, "name", "simulated device", "kind", "sim",
                     "memory_bytes", (json_int_t)SIM_MEMORY_BYTES);
}

static void sim_abort(struct backend_comm *comm)
{
    if (!comm)
        return;
    if (comm->buffers)
        munmap(comm->buffers, comm->buffer_bytes);
    sim_model_release(&comm->model);
    free(comm);
}

static struct backend_comm *sim_create(const struct backend_env *env, struct error *err)
{
    struct backend_comm *comm;

    if (env->file->fault.kind == FAULT_WRONG) {
        error_set(err, ERROR_UNSUPPORTED,
                  "backend sim moves no data, so it cannot inject the fault `wrong`");
        return NULL;
    }
    comm = memory_zeroed(1, sizeof(*comm), "communicator");
    comm->file = env->file;
    comm->rank = backend_env_rank(env);
    comm->world_rank = env->rank;
    comm->stop = env->stop;
    comm->tree = env->tree;
    comm->bytes = -1;
    if (sim_params_read(environ, &comm->params, err)) {
        free(comm);
        return NULL;
    }
    sim_model_init(&comm->model, &comm->params, env->file,
                   backend_env_is_split(env) ? env->group : 0, NULL, NULL);
    return comm;
}

static void sim_destroy(struct backend_comm *comm)
{
    if (comm)
        tree_leave(comm->tree);
    sim_abort(comm);
}

static json_t *sim_transport(struct backend_comm *comm)
{
    (void)comm;
    return json_string("simulated");
}

static void sim_choice(struct backend_comm *comm, const struct backend_call *call,
                       struct choice *out)
{
    (void)call;
    sim_model_describe(&comm->estimate, out);
}

static int sim_memory(struct backend_comm *comm, struct backend_memory *out,
                      struct error *err)
{
    (void)comm;
    (void)err;
    out->bytes = SIM_MEMORY_BYTES;
    snprintf(out->text, sizeof(out->text), "simulated");
    return 0;
}

/* Reserve addresses without memory: any access raises SIGSEGV. */
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

/* ---- Data: a simulation moves none ---- */

static int sim_write(struct backend_comm *comm, void *to, const void *host, size_t len,
                     struct error *err)
{
    (void)comm, (void)to, (void)host, (void)len, (void)err;
    return 0;
}

static int sim_read(struct backend_comm *comm, void *host, const void *from, size_t len,
                    struct error *err)
{
    (void)comm, (void)host, (void)from, (void)len;
    return error_set(err, ERROR_INTERNAL, "a simulation keeps no data");
}

static int sim_fill(struct backend_comm *comm, void *to, const void *element, size_t size,
                    size_t len, struct error *err)
{
    (void)comm, (void)to, (void)element, (void)size, (void)len, (void)err;
    return 0;
}

/* ---- Time ---- */

static int sim_run(struct backend_comm *comm, const struct backend_call *call,
                   struct error *err)
{
    if (call->opens_batch)
        comm->batch_waited = false;
    comm->in_batch = comm->in_batch || call->opens_batch;
    int status = sim_comm_spend(comm, call, err);
    comm->in_batch = comm->in_batch && !call->closes_batch;
    return status;
}

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
    .choice = sim_choice,
    .memory = sim_memory,
    .alloc = sim_alloc,
    .write = sim_write,
    .read = sim_read,
    .fill = sim_fill,
    .run = sim_run,
    .wait = sim_comm_settle,
    .be_late = sim_comm_be_late,
    .timing = &sim_timing,
};
