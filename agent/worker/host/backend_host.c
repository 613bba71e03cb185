/* SPDX-License-Identifier: Apache-2.0 */
/* backend_host.c - the host backend: collectives over host memory */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/host/host_comm.h"
#include "agent/worker/host/memory.h"
#include "agent/worker/host/ucx.h"
#include "agent/worker/bench/case_file.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

/* Thresholds measured on two cores with 2 and 4 ranks. */
#define SMALL_ALONE 1024
#define SMALL_CROWDED 2048
#define STREAM_BYTES 32768
_Static_assert(SMALL_ALONE <= SHM_SLOT_BYTES && SMALL_CROWDED <= SHM_SLOT_BYTES,
               "small messages go through slots");
#define CACHE_BYTES (32u << 20) /* assumed cache size for all buffers of the host */

static void cpu_model(char *text, size_t size)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");

    snprintf(text, size, "CPU");
    while (file && fgets(line, sizeof(line), file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value) {
            value[strcspn(value, "\n")] = '\0';
            snprintf(text, size, "%s", value + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

static json_t *host_probe(const struct backend *backend)
{
    char model[256];

    (void)backend;
    cpu_model(model, sizeof(model));
    return json_pack("{s:b, s:n, s:[{s:i, s:s, s:s, s:I}]}", "available", 1, "reason",
                     "devices", "index", 0, "name", model, "kind", "cpu", "memory_bytes",
                     (json_int_t)memory_total());
}

static void prepare(struct backend_comm *comm, int world_size)
{
    size_t n = (size_t)world_size;

    comm->kernels = reduce_kernels();
    comm->block = aligned_alloc(4096, HOST_BLOCK_BYTES);
    comm->scratch = aligned_alloc(4096, 3 * HOST_SLICE_BYTES);
    if (!comm->block || !comm->scratch)
        memory_out("communicator");
    comm->sources = memory_zeroed(n, sizeof(*comm->sources), "communicator");
    comm->targets = memory_zeroed(n, sizeof(*comm->targets), "communicator");
    comm->flows = memory_zeroed(2 * n, sizeof(*comm->flows), "communicator");
}

static int host_connect(struct backend_comm *comm, const struct backend_env *env,
                        struct error *err)
{
    static const struct host_options defaults = {.transport = HOST_TRANSPORT_AUTO};
    const struct host_options *options = env->file ? &env->file->spec->host : &defaults;

    comm->links = links_create(comm->tree, env, (int)options->sockets, err);
    if (!comm->links || ucx_connect(comm->links, options->transport, &comm->ucx, err))
        return -1;
    /* With more ranks than cores a second barrier waits for the scheduler, which costs
     * more than copying a larger message. */
    comm->small_bytes = comm->links->watch->is_crowded ? SMALL_CROWDED : SMALL_ALONE;
    return 0;
}

static void host_abort(struct backend_comm *comm)
{
    if (!comm)
        return;
    ucx_destroy(comm->ucx);
    links_destroy(comm->links);
    free(comm->block);
    free(comm->scratch);
    free(comm->sources);
    free(comm->targets);
    free(comm->flows);
    free(comm);
}

static struct backend_comm *host_create(const struct backend_env *env, struct error *err)
{
    struct backend_comm *comm = memory_zeroed(1, sizeof(*comm), "communicator");

    (void)err;
    comm->tree = env->tree;
    prepare(comm, env->world_size);
    return comm;
}

static void host_destroy(struct backend_comm *comm)
{
    if (comm) {
        ucx_flush(comm->ucx);
        tree_leave(comm->tree);
    }
    host_abort(comm);
}

static json_t *host_transport(struct backend_comm *comm)
{
    return links_describe(comm->links);
}

static json_t *host_details(struct backend_comm *comm)
{
    return json_pack("{s:o}", "ways", links_ways(comm->links));
}

static int host_memory(struct backend_comm *comm, struct backend_memory *out,
                       struct error *err)
{
    (void)err;
    memory_share(comm->tree->machine_ranks, out);
    return 0;
}

static int host_alloc(struct backend_comm *comm, size_t bytes, void **send, void **recv,
                      struct error *err)
{
    struct shm_group *group = &comm->links->group;
    size_t each = (bytes + 4095) / 4096 * 4096;

    if (shm_group_alloc(group, 2 * each, err) || tree_barrier(comm->tree, err))
        return -1;
    /* Bypass the caches for buffers that do not fit into them. */
    comm->stream_bytes =
        2 * each * (size_t)group->n > CACHE_BYTES ? STREAM_BYTES : SIZE_MAX;
    *send = group->peers[group->self].data;
    *recv = (char *)*send + each;
    return 0;
}

static int host_run(struct backend_comm *comm, const struct backend_call *call,
                    struct error *err)
{
    int status;

    if (comm->links->world_size == 1) {
        memmove(call->recv, call->send, host_send_bytes(comm, call));
        if (call->redop == REDOP_MULSUM)
            host_scale(comm, call->dtype, 0, call->recv, call->recv, call->count);
        return 0;
    }
    status = comm->links->is_local ? shm_run(comm, call) : net_run(comm, call);
    return status ? watch_reason(comm->links->watch, err) : 0;
}

const struct backend backend_host = {
    .name = "host",
    .collectives = (1u << COLLECTIVE_COUNT) - 1,
    .dtypes = (1u << DTYPE_COUNT) - 1,
    .redops = (1u << REDOP_COUNT) - 1,
    .probe = host_probe,
    .create = host_create,
    .connect = host_connect,
    .destroy = host_destroy,
    .abort = host_abort,
    .transport = host_transport,
    .details = host_details,
    .memory = host_memory,
    .alloc = host_alloc,
    .run = host_run,
};
