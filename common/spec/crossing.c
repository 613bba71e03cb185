/* crossing.c - how many bytes a collective moves between places */
#include "common/spec/crossing.h"

#include <stdbool.h>

enum crossing_way crossing_way(const struct crossing_call *call)
{
    switch (call->kind) {
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
        return CROSSING_RING;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
        return call->n_places == 1 || call->n_places == call->n ? CROSSING_CHAIN
                                                                : CROSSING_UNKNOWN;
    default:
        return CROSSING_DIRECT;
    }
}

/* What each hop of a ring carries. */
static double hop(const struct crossing_call *call)
{
    double bytes = (double)call->bytes;

    switch (call->kind) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * bytes * (call->n - 1) / call->n;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
        return bytes * (call->n - 1);
    default:
        return bytes;
    }
}

static bool is_first_of_its_place(const struct crossing_call *call, int rank)
{
    for (int i = 0; i < rank; i++)
        if (call->places[i] == call->places[rank])
            return false;
    return true;
}

static struct crossing by_ring(const struct crossing_call *call, int rank)
{
    double bytes =
        call->n_places > 1 && is_first_of_its_place(call, rank) ? hop(call) : 0;

    return (struct crossing){bytes, bytes};
}

/* Broadcast: all but the last pass it on, all but the root get it; a reduction is the
 * same backwards. By the order of ranks, which is one of those that a ring can have. */
static struct crossing by_chain(const struct crossing_call *call, int rank)
{
    bool is_root = rank == call->root, is_end;
    double bytes = call->n_places > 1 ? (double)call->bytes : 0;

    if (call->kind == COLLECTIVE_REDUCE) {
        is_end = rank == (call->root + 1) % call->n;
        return (struct crossing){is_root ? 0 : bytes, is_end ? 0 : bytes};
    }
    is_end = rank == (call->root + call->n - 1) % call->n;
    return (struct crossing){is_end ? 0 : bytes, is_root ? 0 : bytes};
}

/* What `rank` sends to the peer, in calls in which nobody passes on what he got. */
static double to_peer(const struct crossing_call *call, int rank, int peer)
{
    bool is_sent;

    switch (call->kind) {
    case COLLECTIVE_ALLTOALL:
        is_sent = true;
        break;
    case COLLECTIVE_GATHER:
        is_sent = peer == call->root;
        break;
    case COLLECTIVE_SCATTER:
        is_sent = rank == call->root;
        break;
    default: /* sendrecv */
        is_sent = peer == (rank + 1) % call->n;
    }
    return is_sent ? (double)call->bytes : 0;
}

/* An all-gather by exchanges with the rank whose number differs in one bit. */
static double to_corner(const struct crossing_call *call, int rank, int peer)
{
    int distance = rank ^ peer;

    return (distance & (distance - 1)) == 0 ? (double)call->bytes * distance : 0;
}

static struct crossing with_peer(const struct crossing_call *call, int rank, int peer)
{
    const struct traffic_plan *traffic = call->traffic;
    double element = (double)call->element;

    if (call->kind == COLLECTIVE_ALLTOALLV)
        return (struct crossing){(double)traffic->send_count[peer] * element,
                                 (double)traffic->recv_count[peer] * element};
    if (call->kind == COLLECTIVE_HYPERCUBE)
        return (struct crossing){to_corner(call, rank, peer),
                                 to_corner(call, peer, rank)};
    return (struct crossing){to_peer(call, rank, peer), to_peer(call, peer, rank)};
}

static struct crossing straight(const struct crossing_call *call, int rank)
{
    struct crossing sum = {0, 0};

    for (int peer = 0; peer < call->n; peer++) {
        struct crossing one;

        if (call->places[peer] == call->places[rank])
            continue;
        one = with_peer(call, rank, peer);
        sum.sent += one.sent;
        sum.received += one.received;
    }
    return sum;
}

struct crossing crossing_of(const struct crossing_call *call, int rank)
{
    switch (crossing_way(call)) {
    case CROSSING_RING:
        return by_ring(call, rank);
    case CROSSING_CHAIN:
        return by_chain(call, rank);
    case CROSSING_DIRECT:
        return straight(call, rank);
    case CROSSING_UNKNOWN:
        break;
    }
    return (struct crossing){0, 0};
}

double crossing_of_tree(const struct crossing_call *call)
{
    double places = call->n_places, n = call->n;

    return places > 1 ? ((places - 1) / places) / ((n - 1) / n) : 1;
}
