/* SPDX-License-Identifier: Apache-2.0 */
/* net_collectives.c - collectives over endpoints, for any placement of the ranks
 *
 * Small messages use the algorithms with the fewest steps: recursive doubling and
 * binomial trees. Large messages use a ring of ranks that visits each host once, so each
 * network link carries each byte once per direction. */
#include <string.h>

#include "agent/worker/host/host_comm.h"
#include "agent/worker/host/ring.h"
#include "agent/worker/host/sockets.h"

struct plan {
    const struct links *links;
    const char *send;
    char *recv, *scratch;
    size_t bytes; /* count * element size */
    size_t piece; /* bytes per step, or per chunk */
    size_t pieces;
    int n, at;    /* number of ranks, and this rank's position in the ring */
    int distance; /* number of ring steps from the start of a chain to this rank */
};

static int wrap(int value, int n)
{
    return ((value % n) + n) % n;
}

static struct endpoint *ring_endpoint(struct links *links, int offset)
{
    return links_to(links, links->ring[wrap(links->ring_at + offset, links->world_size)]);
}

static size_t part_len(size_t total, size_t piece, size_t i)
{
    size_t from = i * piece;
    size_t left = from < total ? total - from : 0;
    return left < piece ? left : piece;
}

/* Plan block by block, so that a complete sum is forwarded while it is still in the
 * caches. */
static void plan_all_reduce(const void *arg, size_t t, struct ring_step *step)
{
    const struct plan *plan = arg;
    int n = plan->n, steps = 2 * (n - 1), s = (int)(t % (size_t)steps);
    size_t block = (size_t)n * plan->piece, from = t / (size_t)steps * block;
    size_t bytes = part_len(plan->bytes, block, t / (size_t)steps);
    bool is_reducing = s < n - 1;
    /* ring distance from `at` to the chunk that is sent */
    int shift = is_reducing ? -s : n - s;
    size_t out = (size_t)wrap(plan->at + shift, n);
    size_t in = (size_t)wrap(plan->at + shift - 1, n);

    step->send = (s == 0 ? plan->send : plan->recv) + from + out * plan->piece;
    step->send_len = part_len(bytes, plan->piece, out);
    step->is_chained = s > 0;
    step->recv = plan->recv + from + in * plan->piece;
    step->recv_len = part_len(bytes, plan->piece, in);
    step->own = is_reducing ? plan->send + from + in * plan->piece : NULL;
    step->is_raw = s == 0;
    step->is_complete = s == n - 2;
}

static void plan_reduce_scatter(const void *arg, size_t t, struct ring_step *step)
{
    const struct plan *plan = arg;
    int s = (int)(t % (size_t)(plan->n - 1));
    size_t piece = t / (size_t)(plan->n - 1);
    const int *ring = plan->links->ring;
    size_t out = (size_t)ring[wrap(plan->at - s - 1, plan->n)];
    size_t in = (size_t)ring[wrap(plan->at - s - 2, plan->n)];
    size_t from = piece * plan->piece;
    bool is_last = s == plan->n - 2;

    step->send_len = step->recv_len = part_len(plan->bytes, plan->piece, piece);
    step->send = s == 0 ? plan->send + out * plan->bytes + from
                        : plan->scratch + ((t - 1) & 1) * plan->piece;
    step->is_chained = s > 0;
    step->own = plan->send + in * plan->bytes + from;
    step->recv = is_last ? plan->recv + from : plan->scratch + (t & 1) * plan->piece;
    step->is_raw = s == 0;
    step->is_complete = is_last;
}

static void plan_all_gather(const void *arg, size_t t, struct ring_step *step)
{
    const struct plan *plan = arg;
    const int *ring = plan->links->ring;
    size_t out = (size_t)ring[wrap(plan->at - (int)t, plan->n)];
    size_t in = (size_t)ring[wrap(plan->at - (int)t - 1, plan->n)];

    step->send = plan->recv + out * plan->bytes;
    step->recv = plan->recv + in * plan->bytes;
    step->send_len = step->recv_len = plan->bytes;
    step->is_chained = t > 0;
}

/* Step t receives piece t and forwards piece t - 1. */
static void plan_broadcast(const void *arg, size_t t, struct ring_step *step)
{
    const struct plan *plan = arg;

    if (t > 0 && plan->distance < plan->n - 1) {
        step->send =
            (plan->distance == 0 ? plan->send : plan->recv) + (t - 1) * plan->piece;
        step->send_len = part_len(plan->bytes, plan->piece, t - 1);
        step->is_chained = plan->distance > 0;
    }
    if (plan->distance > 0) {
        step->recv = plan->recv + t * plan->piece;
        step->recv_len = part_len(plan->bytes, plan->piece, t);
    }
}

static void plan_reduce(const void *arg, size_t t, struct ring_step *step)
{
    const struct plan *plan = arg;
    bool is_root = plan->distance == plan->n - 1;

    if (t > 0 && !is_root) {
        step->send = plan->distance == 0 ? plan->send + (t - 1) * plan->piece
                                         : plan->scratch + ((t - 1) & 1) * plan->piece;
        step->send_len = part_len(plan->bytes, plan->piece, t - 1);
        step->is_chained = plan->distance > 0;
    }
    if (plan->distance > 0) {
        step->recv = is_root ? plan->recv + t * plan->piece
                             : plan->scratch + (t & 1) * plan->piece;
        step->recv_len = part_len(plan->bytes, plan->piece, t);
        step->own = plan->send + t * plan->piece;
        step->is_raw = plan->distance == 1;
        step->is_complete = is_root;
    }
}

static int run_ring(struct backend_comm *comm, const struct backend_call *call,
                    ring_plan_fn *fn, const struct plan *plan, size_t steps)
{
    struct endpoint *next = ring_endpoint(comm->links, 1);
    struct endpoint *prev = next ? ring_endpoint(comm->links, -1) : NULL;

    return prev ? ring_run(comm, call, next, prev, fn, plan, steps) : -1;
}

static int swap_with(struct links *links, int rank, const void *send, void *recv,
                     size_t len)
{
    struct endpoint *endpoint = links_to(links, rank);
    struct flow out = {endpoint, (char *)(uintptr_t)send, send ? len : 0, 0};
    struct flow in = {endpoint, recv, recv ? len : 0, 0};

    return endpoint ? links_exchange(links, &out, 1, &in, 1) : -1;
}

/* Start the sum with this rank's input. */
static void begin_sum(struct backend_comm *comm, const struct backend_call *call,
                      void *sum)
{
    memmove(sum, call->send, call->count * dtype_size(call->dtype));
    if (call->redop == REDOP_MULSUM)
        host_scale(comm, call->dtype, comm->links->rank, sum, sum, call->count);
}

static void combine(struct backend_comm *comm, const struct backend_call *call, void *out,
                    const void *other)
{
    comm->kernels->reduce[call->dtype][call->redop](out, out, other, call->count);
}

static void complete(struct backend_comm *comm, const struct backend_call *call)
{
    if (call->redop == REDOP_AVG) {
        comm->kernels->divide[call->dtype](call->recv, call->count,
                                           comm->links->world_size);
    }
}

/* Recursive doubling. Ranks above the largest power of two first send their input to a
 * partner, which returns the result. */
static int small_all_reduce(struct backend_comm *comm, const struct backend_call *call,
                            size_t bytes)
{
    struct links *links = comm->links;
    int n = links->world_size, rank = links->rank, power = 1;
    char *other = comm->scratch;

    while (power * 2 <= n)
        power *= 2;
    begin_sum(comm, call, call->recv);
    if (rank >= power) {
        return swap_with(links, rank - power, call->recv, NULL, bytes) ||
                       swap_with(links, rank - power, NULL, call->recv, bytes)
                   ? -1
                   : 0;
    }
    if (rank + power < n) {
        if (swap_with(links, rank + power, NULL, other, bytes))
            return -1;
        combine(comm, call, call->recv, other);
    }
    for (int bit = 1; bit < power; bit *= 2) {
        if (swap_with(links, rank ^ bit, call->recv, other, bytes))
            return -1;
        combine(comm, call, call->recv, other);
    }
    complete(comm, call);
    return rank + power < n ? swap_with(links, rank + power, call->recv, NULL, bytes) : 0;
}

/* A binomial tree over positions relative to the root. */
static int small_broadcast(struct backend_comm *comm, const struct backend_call *call,
                           size_t bytes)
{
    struct links *links = comm->links;
    int n = links->world_size, self = wrap(links->rank - call->root, n), bit = 1;

    if (self == 0)
        memmove(call->recv, call->send, bytes);
    for (; bit < n; bit *= 2) {
        if (self & bit) {
            int parent = wrap(self - bit + call->root, n);
            if (swap_with(links, parent, NULL, call->recv, bytes))
                return -1;
            break;
        }
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        int child = wrap(self + bit + call->root, n);
        if (self + bit < n && swap_with(links, child, call->recv, NULL, bytes))
            return -1;
    }
    return 0;
}

static int small_reduce(struct backend_comm *comm, const struct backend_call *call,
                        size_t bytes)
{
    struct links *links = comm->links;
    int n = links->world_size, self = wrap(links->rank - call->root, n);
    char *other = comm->scratch;
    char *sum = self == 0 ? call->recv : comm->scratch + HOST_SLICE_BYTES;

    begin_sum(comm, call, sum);
    for (int bit = 1; bit < n; bit *= 2) {
        if (self & bit)
            return swap_with(links, wrap(self - bit + call->root, n), sum, NULL, bytes);
        if (self + bit >= n)
            continue;
        if (swap_with(links, wrap(self + bit + call->root, n), NULL, other, bytes))
            return -1;
        combine(comm, call, sum, other);
    }
    complete(comm, call);
    return 0;
}

/* Return the longest piece that fits the caches, but at least one chunk per socket. */
static size_t longest_piece(const struct backend_comm *comm)
{
    size_t chunks = (size_t)comm->links->sockets * SOCKETS_CHUNK_BYTES;

    return chunks > HOST_PIECE_BYTES ? chunks : HOST_PIECE_BYTES;
}

static int all_reduce(struct backend_comm *comm, const struct backend_call *call,
                      struct plan *plan)
{
    size_t steps = 2 * (size_t)(plan->n - 1);
    size_t lines = (plan->bytes + 63) / 64;
    size_t piece = (lines + (size_t)plan->n - 1) / (size_t)plan->n * 64;

    if (plan->bytes <= HOST_SMALL_BYTES)
        return small_all_reduce(comm, call, plan->bytes);
    plan->piece = piece < longest_piece(comm) ? piece : longest_piece(comm);
    size_t block = plan->piece * (size_t)plan->n;
    size_t blocks = (plan->bytes + block - 1) / block;
    return run_ring(comm, call, plan_all_reduce, plan, blocks * steps);
}

static int all_gather(struct backend_comm *comm, const struct backend_call *call,
                      struct plan *plan)
{
    char *own = plan->recv + (size_t)comm->links->rank * plan->bytes;

    if (own != plan->send)
        memcpy(own, plan->send, plan->bytes);
    return run_ring(comm, call, plan_all_gather, plan, (size_t)plan->n - 1);
}

static int broadcast(struct backend_comm *comm, const struct backend_call *call,
                     struct plan *plan)
{
    const struct links *links = comm->links;

    if (plan->bytes <= HOST_SMALL_BYTES)
        return small_broadcast(comm, call, plan->bytes);
    while (links->ring[wrap(plan->at - plan->distance, plan->n)] != call->root)
        plan->distance++;
    if (plan->distance == 0 && plan->recv != plan->send)
        memcpy(plan->recv, plan->send, plan->bytes);
    return run_ring(comm, call, plan_broadcast, plan, plan->pieces + 1);
}

static int reduce_scatter(struct backend_comm *comm, const struct backend_call *call,
                          struct plan *plan)
{
    return run_ring(comm, call, plan_reduce_scatter, plan,
                    plan->pieces * (size_t)(plan->n - 1));
}

static int reduce(struct backend_comm *comm, const struct backend_call *call,
                  struct plan *plan)
{
    const struct links *links = comm->links;

    if (plan->bytes <= HOST_SMALL_BYTES)
        return small_reduce(comm, call, plan->bytes);
    /* The chain starts at the rank after the root and ends at the root. */
    while (links->ring[wrap(plan->at - 1 - plan->distance, plan->n)] != call->root)
        plan->distance++;
    return run_ring(comm, call, plan_reduce, plan, plan->pieces + 1);
}

static int add_flow(struct links *links, struct flow *flows, size_t *n, int rank,
                    const char *data, size_t len)
{
    struct endpoint *endpoint = links_to(links, rank);

    if (!endpoint)
        return -1;
    flows[(*n)++] = (struct flow){endpoint, (char *)(uintptr_t)data, len, 0};
    return 0;
}

/* alltoall, gather, scatter: all direct transfers concurrently. */
static int direct(struct backend_comm *comm, const struct backend_call *call,
                  struct plan *plan)
{
    struct links *links = comm->links;
    int n = links->world_size, rank = links->rank, root = call->root;
    bool is_alltoall = call->kind == COLLECTIVE_ALLTOALL;
    bool is_gather = call->kind == COLLECTIVE_GATHER;
    struct flow *sends = comm->flows, *recvs = comm->flows + n;
    size_t n_sends = 0, n_recvs = 0;

    for (int k = 1; k < n; k++) {
        int to = (rank + k) % n, from = (rank + n - k) % n;
        if (is_alltoall || (is_gather ? to == root : rank == root)) {
            size_t at = is_gather ? 0 : (size_t)to * plan->bytes;
            if (add_flow(links, sends, &n_sends, to, plan->send + at, plan->bytes))
                return -1;
        }
        if (is_alltoall || (is_gather ? rank == root : from == root)) {
            size_t at = is_alltoall || is_gather ? (size_t)from * plan->bytes : 0;
            if (add_flow(links, recvs, &n_recvs, from, plan->recv + at, plan->bytes))
                return -1;
        }
    }
    if (is_alltoall || rank == root) {
        size_t own = (size_t)rank * plan->bytes;
        const char *from = plan->send + (is_gather ? 0 : own);
        char *to = plan->recv + (is_alltoall || is_gather ? own : 0);
        if (to != from)
            memcpy(to, from, plan->bytes);
    }
    return links_exchange(links, sends, n_sends, recvs, n_recvs);
}

static int alltoallv(struct backend_comm *comm, const struct backend_call *call,
                     struct plan *plan)
{
    const struct traffic_plan *traffic = call->traffic;
    struct links *links = comm->links;
    int n = links->world_size, rank = links->rank;
    struct flow *sends = comm->flows, *recvs = comm->flows + n;
    size_t element = dtype_size(call->dtype), n_sends = 0, n_recvs = 0;

    for (int k = 1; k < n; k++) {
        int to = (rank + k) % n, from = (rank + n - k) % n;
        if (traffic->send_count[to] &&
            add_flow(links, sends, &n_sends, to,
                     plan->send + traffic->send_at[to] * element,
                     traffic->send_count[to] * element))
            return -1;
        if (traffic->recv_count[from] &&
            add_flow(links, recvs, &n_recvs, from,
                     plan->recv + traffic->recv_at[from] * element,
                     traffic->recv_count[from] * element))
            return -1;
    }
    /* In place, the regions may overlap. */
    memmove(plan->recv + traffic->recv_at[rank] * element,
            plan->send + traffic->send_at[rank] * element,
            traffic->send_count[rank] * element);
    return links_exchange(links, sends, n_sends, recvs, n_recvs);
}

/* Exchange data pairwise in log2(n) rounds. The amount of data doubles in each round. */
static int hypercube(struct backend_comm *comm, const struct backend_call *call,
                     struct plan *plan)
{
    struct links *links = comm->links;
    char *own = plan->recv + (size_t)links->rank * plan->bytes;

    (void)call;
    if (own != plan->send)
        memcpy(own, plan->send, plan->bytes);
    for (int mask = 1; mask < links->world_size; mask *= 2) {
        int first = links->rank & ~(mask - 1);
        size_t len = (size_t)mask * plan->bytes;
        struct endpoint *endpoint = links_to(links, links->rank ^ mask);
        struct flow out = {endpoint, plan->recv + (size_t)first * plan->bytes, len, 0};
        struct flow in = {endpoint, plan->recv + (size_t)(first ^ mask) * plan->bytes,
                          len, 0};
        if (!endpoint || links_exchange(links, &out, 1, &in, 1))
            return -1;
    }
    return 0;
}

static int sendrecv(struct backend_comm *comm, const struct backend_call *call,
                    struct plan *plan)
{
    struct links *links = comm->links;
    int n = links->world_size;
    struct flow out, in;
    size_t n_out = 0, n_in = 0;

    (void)call;
    return add_flow(links, &out, &n_out, (links->rank + 1) % n, plan->send,
                    plan->bytes) ||
                   add_flow(links, &in, &n_in, (links->rank + n - 1) % n, plan->recv,
                            plan->bytes) ||
                   links_exchange(links, &out, 1, &in, 1)
               ? -1
               : 0;
}

typedef int net_collective(struct backend_comm *comm, const struct backend_call *call,
                           struct plan *plan);

static net_collective *const collectives[COLLECTIVE_COUNT] = {
    [COLLECTIVE_ALL_REDUCE] = all_reduce,
    [COLLECTIVE_ALL_GATHER] = all_gather,
    [COLLECTIVE_REDUCE_SCATTER] = reduce_scatter,
    [COLLECTIVE_BROADCAST] = broadcast,
    [COLLECTIVE_REDUCE] = reduce,
    [COLLECTIVE_ALLTOALL] = direct,
    [COLLECTIVE_GATHER] = direct,
    [COLLECTIVE_SCATTER] = direct,
    [COLLECTIVE_SENDRECV] = sendrecv,
    [COLLECTIVE_HYPERCUBE] = hypercube,
    [COLLECTIVE_ALLTOALLV] = alltoallv,
};

int net_run(struct backend_comm *comm, const struct backend_call *call)
{
    const struct links *links = comm->links;
    size_t bytes = call->count * dtype_size(call->dtype);
    struct plan plan = {.links = links,
                        .send = call->send,
                        .recv = call->recv,
                        .scratch = comm->scratch + HOST_SLICE_BYTES,
                        .bytes = bytes,
                        .piece = HOST_SLICE_BYTES,
                        .pieces = (bytes + HOST_SLICE_BYTES - 1) / HOST_SLICE_BYTES,
                        .n = links->world_size,
                        .at = links->ring_at};

    return collectives[call->kind](comm, call, &plan);
}
