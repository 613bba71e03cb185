/* crossing.h - how many bytes a collective moves between places: between nodes, or
 * between ranks where each is taken for a place of its own
 *
 * Of rings: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
 * workstations", JPDC 69(2), 2009; a ring enters and leaves each place once, as NCCL's
 * and the host backend's do, so its hops between places carry what any hop does. Of
 * trees: Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast,
 * reduction and scan", Parallel Computing 35(12), 2009; over places, as NCCL's are. What
 * goes straight from its source to its target is counted pair by pair. */
#ifndef RINGBENCH_COMMON_SPEC_CROSSING_H
#define RINGBENCH_COMMON_SPEC_CROSSING_H

#include <stddef.h>
#include <stdint.h>

#include "common/spec/collective.h"
#include "common/spec/traffic.h"

enum crossing_way {
    CROSSING_RING,
    CROSSING_CHAIN,  /* a ring that ends before its root: known over all places alone */
    CROSSING_DIRECT, /* from source to target */
    CROSSING_UNKNOWN /* a chain whose root shares its place: where it comes in is open */
};

struct crossing_call {
    enum collective_kind kind;
    uint64_t bytes; /* of the call's count */
    int n, root;
    const int *places;                  /* by rank, from 0, below n_places */
    int n_places;                       /* that have ranks */
    const struct traffic_plan *traffic; /* of alltoallv: of the rank that is asked for */
    size_t element;                     /* and the bytes of an element */
};

struct crossing {
    double sent, received; /* bytes */
};

enum crossing_way crossing_way(const struct crossing_call *call);

/* What one call makes the place of `rank` send to others and get from them, as far as it
 * is this rank's part: the sum over a place's ranks is what the place moves. */
struct crossing crossing_of(const struct crossing_call *call, int rank);

/* What a tree moves in an all-reduce per byte that a ring does. */
double crossing_of_tree(const struct crossing_call *call);

#endif
