/* SPDX-License-Identifier: Apache-2.0 */
/* worker_tree.c - an example of a new backend: all-gather over the control connections
 *
 * See docs/development/worker-contract.md. It has the functions that every backend needs,
 * and no more. */
#include <stdlib.h>
#include <string.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/worker.h"

struct backend_comm {
    struct tree *tree; /* the environment's */
    void *buffers;
};

static json_t *probe(const struct backend *backend)
{
    (void)backend;
    return json_pack("{s:b, s:n, s:[{s:i, s:s, s:s}]}", "available", 1, "reason",
                     "devices", "index", 0, "name", "control connections", "kind", "cpu");
}

static struct backend_comm *create(const struct backend_env *env, struct error *err)
{
    struct backend_comm *comm = calloc(1, sizeof(*comm));

    if (!comm || backend_env_is_split(env)) {
        error_set(err, ERROR_UNSUPPORTED, "no memory, or a run with a split");
        free(comm);
        return NULL;
    }
    comm->tree = env->tree;
    return comm;
}

static void end_at_once(struct backend_comm *comm)
{
    if (comm)
        free(comm->buffers);
    free(comm);
}

static void end_orderly(struct backend_comm *comm)
{
    if (comm)
        tree_leave(comm->tree);
    end_at_once(comm);
}

static json_t *transport(struct backend_comm *comm)
{
    return tree_describe(comm->tree);
}

static int memory(struct backend_comm *comm, struct backend_memory *out,
                  struct error *err)
{
    (void)comm;
    (void)err;
    *out = (struct backend_memory){.bytes = 1u << 30, .text = "the example's limit"};
    return 0;
}

static int alloc(struct backend_comm *comm, size_t bytes, void **send, void **recv,
                 struct error *err)
{
    size_t each = (bytes + 4095) / 4096 * 4096;

    comm->buffers = aligned_alloc(4096, 2 * each);
    if (!comm->buffers)
        return error_set(err, ERROR_MEMORY, "no memory for 2 buffers of %zu bytes", each);
    *send = memset(comm->buffers, 0, 2 * each);
    *recv = (char *)comm->buffers + each;
    return 0;
}

/* The buffers are host memory, and the call has ended on return: no function is needed to
 * write, read, fill or wait. */
static int run(struct backend_comm *comm, const struct backend_call *call,
               struct error *err)
{
    return tree_allgather(comm->tree, call->send, call->count * dtype_size(call->dtype),
                          call->recv, err);
}

static const struct backend backend = {
    .name = "tree",
    .collectives = 1u << COLLECTIVE_ALL_GATHER,
    .dtypes = (1u << DTYPE_COUNT) - 1,
    .redops = (1u << REDOP_COUNT) - 1,
    .probe = probe,
    .create = create,
    .destroy = end_orderly,
    .abort = end_at_once,
    .transport = transport,
    .memory = memory,
    .alloc = alloc,
    .run = run,
};

int main(int argc, char **argv)
{
    return worker_main(argc, argv, &backend);
}
