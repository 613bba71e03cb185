/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_calls.c - map collectives to NCCL's calls */
#include <stdio.h>

#include "agent/worker/nccl/nccl_comm.h"

static const int types[DTYPE_COUNT] = {
    [DTYPE_INT8] = NCCL_TYPE_INT8,
    [DTYPE_UINT8] = NCCL_TYPE_UINT8,
    [DTYPE_INT32] = NCCL_TYPE_INT32,
    [DTYPE_UINT32] = NCCL_TYPE_UINT32,
    [DTYPE_INT64] = NCCL_TYPE_INT64,
    [DTYPE_UINT64] = NCCL_TYPE_UINT64,
    [DTYPE_FLOAT16] = NCCL_TYPE_FLOAT16,
    [DTYPE_FLOAT32] = NCCL_TYPE_FLOAT32,
    [DTYPE_FLOAT64] = NCCL_TYPE_FLOAT64,
    [DTYPE_BFLOAT16] = NCCL_TYPE_BFLOAT16,
    [DTYPE_FLOAT8E4M3] = NCCL_TYPE_FLOAT8E4M3,
    [DTYPE_FLOAT8E5M2] = NCCL_TYPE_FLOAT8E5M2,
};

static const int operations[REDOP_COUNT] = {
    [REDOP_SUM] = NCCL_OP_SUM, [REDOP_PROD] = NCCL_OP_PROD, [REDOP_MIN] = NCCL_OP_MIN,
    [REDOP_MAX] = NCCL_OP_MAX, [REDOP_AVG] = NCCL_OP_AVG,
};

typedef int call_fn(struct backend_comm *comm, const struct backend_call *call);

static int type_of(const struct backend_call *call)
{
    return types[call->dtype];
}

static int operation_of(const struct backend_comm *comm, const struct backend_call *call)
{
    return call->redop == REDOP_MULSUM ? comm->premul_ops[call->dtype]
                                       : operations[call->redop];
}

/* Create the operator for mulsum once. nccl-tests creates and destroys it around each
 * call. */
static int need_operation(struct backend_comm *comm, const struct backend_call *call,
                          struct error *err)
{
    int *op = &comm->premul_ops[call->dtype];
    unsigned char scalar[8];

    if (call->redop != REDOP_MULSUM || *op != 0)
        return 0;
    pattern_scalar(call->dtype, comm->rank, scalar);
    int result = comm->nccl.call.premul_create(op, scalar, type_of(call),
                                               NCCL_SCALAR_HOST, comm->comm);
    return comm_nccl(comm, result, "ncclRedOpCreatePreMulSum", err);
}

void comm_drop_operations(struct backend_comm *comm)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (comm->premul_ops[i] != 0) {
            comm->nccl.call.premul_destroy(comm->premul_ops[i], comm->comm);
            comm->premul_ops[i] = 0;
        }
    }
}

static int all_reduce(struct backend_comm *comm, const struct backend_call *call)
{
    return comm->nccl.call.all_reduce(call->send, call->recv, call->count, type_of(call),
                                      operation_of(comm, call), comm->comm, comm->stream);
}

static int all_gather(struct backend_comm *comm, const struct backend_call *call)
{
    return comm->nccl.call.all_gather(call->send, call->recv, call->count, type_of(call),
                                      comm->comm, comm->stream);
}

static int reduce_scatter(struct backend_comm *comm, const struct backend_call *call)
{
    return comm->nccl.call.reduce_scatter(call->send, call->recv, call->count,
                                          type_of(call), operation_of(comm, call),
                                          comm->comm, comm->stream);
}

static int broadcast(struct backend_comm *comm, const struct backend_call *call)
{
    return comm->nccl.call.broadcast(call->send, call->recv, call->count, type_of(call),
                                     call->root, comm->comm, comm->stream);
}

static int reduce(struct backend_comm *comm, const struct backend_call *call)
{
    return comm->nccl.call.reduce(call->send, call->recv, call->count, type_of(call),
                                  operation_of(comm, call), call->root, comm->comm,
                                  comm->stream);
}

/* The part of the send buffer that goes to `peer`. */
static const char *part_sent(const struct backend_call *call, int peer)
{
    return (const char *)call->send +
           (size_t)peer * call->count * dtype_size(call->dtype);
}

static char *part_received(const struct backend_call *call, int peer)
{
    return (char *)call->recv + (size_t)peer * call->count * dtype_size(call->dtype);
}

static int send_part(struct backend_comm *comm, const struct backend_call *call,
                     const void *from, int peer)
{
    return comm->nccl.call.send(from, call->count, type_of(call), peer, comm->comm,
                                comm->stream);
}

static int recv_part(struct backend_comm *comm, const struct backend_call *call, void *to,
                     int peer)
{
    return comm->nccl.call.recv(to, call->count, type_of(call), peer, comm->comm,
                                comm->stream);
}

/* End the group in any case, and return the first failure. */
static int end_group(struct backend_comm *comm, int result)
{
    int ended = comm->nccl.call.group_end();

    return result ? result : ended;
}

/* NCCL before 2.28 has no ncclAlltoAll, ncclGather and ncclScatter: use grouped sends and
 * receives, as nccl-tests does. */
static int alltoall(struct backend_comm *comm, const struct backend_call *call)
{
    if (comm->nccl.call.alltoall) {
        return comm->nccl.call.alltoall(call->send, call->recv, call->count,
                                        type_of(call), comm->comm, comm->stream);
    }
    int result = comm->nccl.call.group_start();
    for (int peer = 0; !result && peer < comm->world_size; peer++) {
        result = send_part(comm, call, part_sent(call, peer), peer);
        result = result ? result : recv_part(comm, call, part_received(call, peer), peer);
    }
    return end_group(comm, result);
}

static int gather(struct backend_comm *comm, const struct backend_call *call)
{
    if (comm->nccl.call.gather) {
        return comm->nccl.call.gather(call->send, call->recv, call->count, type_of(call),
                                      call->root, comm->comm, comm->stream);
    }
    int result = comm->nccl.call.group_start();
    result = result ? result : send_part(comm, call, call->send, call->root);
    for (int peer = 0; !result && comm->rank == call->root && peer < comm->world_size;
         peer++)
        result = recv_part(comm, call, part_received(call, peer), peer);
    return end_group(comm, result);
}

static int scatter(struct backend_comm *comm, const struct backend_call *call)
{
    if (comm->nccl.call.scatter) {
        return comm->nccl.call.scatter(call->send, call->recv, call->count, type_of(call),
                                       call->root, comm->comm, comm->stream);
    }
    int result = comm->nccl.call.group_start();
    for (int peer = 0; !result && comm->rank == call->root && peer < comm->world_size;
         peer++)
        result = send_part(comm, call, part_sent(call, peer), peer);
    result = result ? result : recv_part(comm, call, call->recv, call->root);
    return end_group(comm, result);
}

static int sendrecv(struct backend_comm *comm, const struct backend_call *call)
{
    int n = comm->world_size, next = (comm->rank + 1) % n;
    int previous = (comm->rank + n - 1) % n;

    int result = comm->nccl.call.group_start();
    result = result ? result : send_part(comm, call, call->send, next);
    result = result ? result : recv_part(comm, call, call->recv, previous);
    return end_group(comm, result);
}

static int alltoallv(struct backend_comm *comm, const struct backend_call *call)
{
    const struct traffic_plan *plan = call->traffic;
    size_t element = dtype_size(call->dtype);
    int result = comm->nccl.call.group_start();

    for (int peer = 0; !result && peer < plan->n; peer++) {
        if (plan->send_count[peer]) {
            result = comm->nccl.call.send(
                (const char *)call->send + plan->send_at[peer] * element,
                plan->send_count[peer], type_of(call), peer, comm->comm, comm->stream);
        }
        if (!result && plan->recv_count[peer]) {
            result = comm->nccl.call.recv(
                (char *)call->recv + plan->recv_at[peer] * element,
                plan->recv_count[peer], type_of(call), peer, comm->comm, comm->stream);
        }
    }
    return end_group(comm, result);
}

/* An all-gather in log2(n) rounds. In each round a rank exchanges all its data with a
 * partner. */
static int hypercube(struct backend_comm *comm, const struct backend_call *call)
{
    char *own = part_received(call, comm->rank);
    int result = 0;

    if (own != call->send && comm->cuda.call.memcpy_async(
                                 own, call->send, call->count * dtype_size(call->dtype),
                                 CUDA_MEMCPY_DEFAULT_KIND, comm->stream))
        return NCCL_RESULT_CUDA;
    for (int mask = 1; !result && mask < comm->world_size; mask *= 2) {
        int first = comm->rank & ~(mask - 1), partner = comm->rank ^ mask;
        size_t count = (size_t)mask * call->count;
        result = comm->nccl.call.group_start();
        result = result ? result
                        : comm->nccl.call.send(part_received(call, first), count,
                                               type_of(call), partner, comm->comm,
                                               comm->stream);
        result = result ? result
                        : comm->nccl.call.recv(part_received(call, first ^ mask), count,
                                               type_of(call), partner, comm->comm,
                                               comm->stream);
        result = end_group(comm, result);
    }
    return result;
}

static call_fn *const calls[COLLECTIVE_COUNT] = {
    [COLLECTIVE_ALL_REDUCE] = all_reduce,
    [COLLECTIVE_ALL_GATHER] = all_gather,
    [COLLECTIVE_REDUCE_SCATTER] = reduce_scatter,
    [COLLECTIVE_BROADCAST] = broadcast,
    [COLLECTIVE_REDUCE] = reduce,
    [COLLECTIVE_ALLTOALL] = alltoall,
    [COLLECTIVE_GATHER] = gather,
    [COLLECTIVE_SCATTER] = scatter,
    [COLLECTIVE_SENDRECV] = sendrecv,
    [COLLECTIVE_HYPERCUBE] = hypercube,
    [COLLECTIVE_ALLTOALLV] = alltoallv,
};

static int open_group(struct backend_comm *comm, struct error *err)
{
    comm->backlog.is_in_group = true;
    return comm_nccl(comm, comm->nccl.call.group_start(), "ncclGroupStart", err);
}

static int close_group(struct backend_comm *comm, struct error *err)
{
    comm->backlog.is_in_group = false;
    int result = GUARDED(comm->watchdog, "ncclGroupEnd", comm->nccl.call.group_end());
    if (comm_nccl(comm, result, "ncclGroupEnd", err))
        return -1;
    return backlog_mark(comm, err);
}

int comm_run(struct backend_comm *comm, const struct backend_call *call,
             struct error *err)
{
    if (call->opens_batch && open_group(comm, err))
        return -1;
    backlog_begin(comm, call->kind);
    if (need_operation(comm, call, err))
        return -1;
    watchdog_enter(comm->watchdog, collective_name(call->kind));
    int result = calls[call->kind](comm, call);
    watchdog_leave(comm->watchdog);
    if (result)
        return comm_nccl(comm, result, collective_name(call->kind), err);
    if (backlog_add(comm, 1, err))
        return -1;
    return call->closes_batch ? close_group(comm, err) : 0;
}

/* With one rank, avg and mulsum use an NCCL kernel that does not support fp8. NCCL then
 * reports an invalid argument (src/device/onerank.cu, 2.24 to 2.28). */
static bool is_scaled_by_one_rank(const struct backend_comm *comm,
                                  const struct backend_call *call)
{
    return comm->world_size == 1 &&
           (call->redop == REDOP_AVG || call->redop == REDOP_MULSUM);
}

bool comm_refuses(const struct backend_comm *comm, const struct backend_call *call,
                  char *reason, size_t size)
{
    bool is_fp8 = call->dtype == DTYPE_FLOAT8E4M3 || call->dtype == DTYPE_FLOAT8E5M2;
    bool reduces = collective_facts(call->kind)->reduces;
    bool is_copy =
        call->kind == COLLECTIVE_ALL_GATHER || call->kind == COLLECTIVE_BROADCAST;
    bool copies = comm->nccl.version >= NCCL_COPIES_FP8;
    char text[NCCL_VERSION_TEXT_MAX];

    if (!is_fp8)
        return false;
    nccl_version_text(comm->nccl.version, text);
    if (*comm->without_fp8 && (reduces || (is_copy && !copies))) {
        snprintf(reason, size, "NCCL %s %s only from compute capability %d.%d on, and %s",
                 text, copies ? "reduces fp8" : "supports fp8",
                 CUDA_CAPABILITY_OF_FP8 / 10, CUDA_CAPABILITY_OF_FP8 % 10,
                 comm->without_fp8);
        return true;
    }
    if (reduces && is_scaled_by_one_rank(comm, call)) {
        snprintf(reason, size, "NCCL %s does not support %s of fp8 with only one rank",
                 text, redop_name(call->redop));
        return true;
    }
    return false;
}
