/* SPDX-License-Identifier: Apache-2.0 */
/* shm_collectives.c - collectives of ranks that share memory
 *
 * Large messages: each rank publishes its buffers' offsets, and a barrier follows. Ranks
 * then read and write their peers' memory directly, until a second barrier. No buffer is
 * accessed before its owner has entered the call or after it has left.
 *
 * Small messages: each rank copies its input to its slot, and a single barrier follows.
 * Two slots alternate, so the next operation does not overwrite data that a slow rank
 * still reads. A slot is reused only when all ranks have entered the next operation. */
#include <string.h>

#include "agent/worker/host/host_comm.h"

/* The arguments of the work between the barriers. sources, targets: the members' send and
 * receive buffers. With is_small, sources are the slots, and targets contains only this
 * rank's entry. */
struct shm_op {
    struct backend_comm *comm;
    const struct backend_call *call;
    int n, self;
    size_t bytes; /* count * element size */
    size_t element;
    bool is_small;
    bool is_streamed;
    const char *const *sources;
    char *const *targets;
};

static void copy(const struct shm_op *op, char *to, const char *from, size_t len)
{
    if (to == from)
        return;
    if (op->is_streamed)
        op->comm->kernels->stream(to, from, len);
    else
        memcpy(to, from, len);
}

/* mulsum: multiply a member's input by its scalar. */
static void scale_input(const struct shm_op *op, int member, size_t at, size_t count,
                        char *out)
{
    int rank = op->comm->links->group.peers[member].rank;

    host_scale(op->comm, op->call->dtype, rank, out, op->sources[member] + at, count);
}

/* Sum a block over all members into `out`, which may be the memory of member `first`. */
static void mulsum_block(const struct shm_op *op, int first, size_t at, size_t len,
                         char *out)
{
    reduce_fn *reduce = op->comm->kernels->reduce[op->call->dtype][REDOP_MULSUM];
    char *scaled = op->comm->scratch;
    size_t count = len / op->element;

    scale_input(op, first, at, count, out);
    for (int i = 0; i < op->n; i++) {
        if (i != first) {
            scale_input(op, i, at, count, scaled);
            reduce(out, out, scaled, count);
        }
    }
}

/* Like mulsum_block(), for any reduction. */
static void reduce_block(const struct shm_op *op, int first, size_t at, size_t len,
                         char *out)
{
    const struct reduce_kernels *kernels = op->comm->kernels;
    reduce_fn *reduce = kernels->reduce[op->call->dtype][op->call->redop];
    size_t count = len / op->element;
    int second = first == 0 ? 1 : 0;

    if (op->call->redop == REDOP_MULSUM) {
        mulsum_block(op, first, at, len, out);
        return;
    }
    reduce(out, op->sources[first] + at, op->sources[second] + at, count);
    for (int i = second + 1; i < op->n; i++)
        if (i != first)
            reduce(out, out, op->sources[i] + at, count);
    if (op->call->redop == REDOP_AVG)
        kernels->divide[op->call->dtype](out, count, op->n);
}

/* Reduce bytes at .. at + len of all inputs to `out`, and copy the result to the same
 * range of all `others`. first: the member whose input may share memory with `out`. */
static void reduce_range(const struct shm_op *op, int first, size_t at, size_t len,
                         char *out, char *const *others, int n_others)
{
    for (size_t done = 0; done < len; done += HOST_BLOCK_BYTES) {
        size_t part = len - done < HOST_BLOCK_BYTES ? len - done : HOST_BLOCK_BYTES;
        char *block = op->is_streamed ? op->comm->block : out + done;
        reduce_block(op, first, at + done, part, block);
        copy(op, out + done, block, part);
        for (int i = 0; i < n_others; i++) {
            char *to = others[i] + at + done;
            if (to != out + done)
                copy(op, to, block, part);
        }
    }
}

/* Compute this member's part of `bytes`, in whole cache lines. */
static void own_share(const struct shm_op *op, size_t *at, size_t *len)
{
    size_t lines = (op->bytes + 63) / 64, share = (lines + op->n - 1) / op->n * 64;
    size_t from = share * (size_t)op->self;

    *at = from < op->bytes ? from : op->bytes;
    *len = op->bytes - *at < share ? op->bytes - *at : share;
}

static void all_reduce(const struct shm_op *op)
{
    size_t at = 0, len = op->bytes;

    if (op->is_small) {
        reduce_range(op, 0, at, len, op->targets[op->self], NULL, 0);
        return;
    }
    own_share(op, &at, &len);
    reduce_range(op, op->self, at, len, op->targets[op->self] + at, op->targets, op->n);
}

static void reduce(const struct shm_op *op)
{
    int root = op->call->root;
    size_t at = 0, len = op->bytes;

    if (op->is_small && op->self != root)
        return;
    if (!op->is_small)
        own_share(op, &at, &len);
    reduce_range(op, root, at, len, op->targets[root] + at, NULL, 0);
}

static void reduce_scatter(const struct shm_op *op)
{
    size_t at = (size_t)op->self * op->bytes;

    reduce_range(op, op->self, at, op->bytes, op->targets[op->self], NULL, 0);
}

static void all_gather(const struct shm_op *op)
{
    for (int k = 0; k < op->n; k++) {
        int i = (op->self + k) % op->n;
        copy(op, op->targets[op->self] + (size_t)i * op->bytes, op->sources[i],
             op->bytes);
    }
}

static void alltoall(const struct shm_op *op)
{
    for (int k = 0; k < op->n; k++) {
        int i = (op->self + k) % op->n;
        copy(op, op->targets[op->self] + (size_t)i * op->bytes,
             op->sources[i] + (size_t)op->self * op->bytes, op->bytes);
    }
}

static void gather(const struct shm_op *op)
{
    int root = op->call->root;

    if (!op->is_small) {
        copy(op, op->targets[root] + (size_t)op->self * op->bytes, op->sources[op->self],
             op->bytes);
        return;
    }
    for (int i = 0; op->self == root && i < op->n; i++)
        copy(op, op->targets[root] + (size_t)i * op->bytes, op->sources[i], op->bytes);
}

static void share_out(const struct shm_op *op)
{
    const char *from = op->sources[op->call->root];

    if (op->call->kind == COLLECTIVE_SCATTER)
        from += (size_t)op->self * op->bytes;
    copy(op, op->targets[op->self], from, op->bytes);
}

static void sendrecv(const struct shm_op *op)
{
    copy(op, op->targets[op->self], op->sources[(op->self + op->n - 1) % op->n],
         op->bytes);
}

static void alltoallv(const struct shm_op *op)
{
    const struct traffic_plan *plan = op->call->traffic;
    size_t element = op->element;

    for (int k = 0; k < op->n; k++) {
        int i = (op->self + k) % op->n;
        char *to = op->targets[op->self] + plan->recv_at[i] * element;
        const char *from = op->sources[i] + plan->peer_at[i] * element;
        size_t len = plan->recv_count[i] * element;
        if (k == 0)
            memmove(to, from, len); /* in place, the regions may overlap */
        else
            copy(op, to, from, len);
    }
}

/* Exchange data in log2(n) rounds. The amount of data doubles in each round. Returns -1
 * on failure. */
static int hypercube(const struct shm_op *op)
{
    char *own = op->targets[op->self];

    copy(op, own + (size_t)op->self * op->bytes, op->sources[op->self], op->bytes);
    for (int mask = 1; mask < op->n; mask *= 2) {
        int first = (op->self & ~(mask - 1)) ^ mask; /* the partner's first part */
        size_t at = (size_t)first * op->bytes;
        if (shm_group_barrier(&op->comm->links->group))
            return -1;
        copy(op, own + at, op->targets[op->self ^ mask] + at, (size_t)mask * op->bytes);
    }
    return 0;
}

typedef void shm_work(const struct shm_op *op);

/* The work between two barriers. NULL: hypercube(), which needs more barriers. */
static shm_work *const works[COLLECTIVE_COUNT] = {
    [COLLECTIVE_ALL_REDUCE] = all_reduce,
    [COLLECTIVE_ALL_GATHER] = all_gather,
    [COLLECTIVE_REDUCE_SCATTER] = reduce_scatter,
    [COLLECTIVE_BROADCAST] = share_out,
    [COLLECTIVE_REDUCE] = reduce,
    [COLLECTIVE_ALLTOALL] = alltoall,
    [COLLECTIVE_GATHER] = gather,
    [COLLECTIVE_SCATTER] = share_out,
    [COLLECTIVE_SENDRECV] = sendrecv,
    [COLLECTIVE_ALLTOALLV] = alltoallv,
};

static int run_small(struct shm_op *op, size_t send_bytes)
{
    struct backend_comm *comm = op->comm;
    struct shm_group *group = &comm->links->group;

    op->is_small = true;
    memcpy(shm_group_slot_begin(group, send_bytes), op->call->send, send_bytes);
    if (shm_group_slot_publish(group))
        return -1;
    for (int i = 0; i < op->n; i++)
        comm->sources[i] = shm_group_slot(group, i);
    comm->targets[op->self] = op->call->recv;
    works[op->call->kind](op);
    return 0;
}

static int enter(struct shm_op *op)
{
    struct shm_group *group = &op->comm->links->group;
    const struct shm_peer *own = &group->peers[group->self];

    atomic_store_explicit(&own->head->line.offsets[0],
                          (size_t)((const char *)op->call->send - own->data),
                          memory_order_relaxed);
    atomic_store_explicit(&own->head->line.offsets[1],
                          (size_t)((char *)op->call->recv - own->data),
                          memory_order_relaxed);
    if (shm_group_barrier(group))
        return -1;
    for (int i = 0; i < op->n; i++) {
        const struct shm_peer *peer = &group->peers[i];
        _Atomic uint64_t *offsets = peer->head->line.offsets;
        op->comm->sources[i] =
            peer->data + atomic_load_explicit(&offsets[0], memory_order_relaxed);
        op->comm->targets[i] =
            peer->data + atomic_load_explicit(&offsets[1], memory_order_relaxed);
    }
    return 0;
}

int shm_run(struct backend_comm *comm, const struct backend_call *call)
{
    struct shm_group *group = &comm->links->group;
    shm_work *work = works[call->kind];
    size_t element = dtype_size(call->dtype);
    size_t send_bytes = host_send_bytes(comm, call);
    struct shm_op op = {.comm = comm,
                        .call = call,
                        .n = group->n,
                        .self = group->self,
                        .bytes = call->count * element,
                        .element = element,
                        .sources = comm->sources,
                        .targets = comm->targets};

    if (work && send_bytes <= comm->small_bytes)
        return run_small(&op, send_bytes);
    op.is_streamed = send_bytes >= comm->stream_bytes;
    if (enter(&op))
        return -1;
    if (work)
        work(&op);
    else if (hypercube(&op))
        return -1;
    if (op.is_streamed)
        reduce_finish_stream();
    return shm_group_barrier(group);
}
