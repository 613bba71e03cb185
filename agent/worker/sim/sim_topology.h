/* sim_topology.h - the nodes of a simulated case and what their links can carry */
#ifndef RINGBENCH_WORKER_SIM_SIM_TOPOLOGY_H
#define RINGBENCH_WORKER_SIM_SIM_TOPOLOGY_H

#include <jansson.h>
#include <stddef.h>

#include "agent/worker/sim/sim_params.h"
#include "common/spec/split.h"

struct sim_node {
    const char *name;
    int ranks;
    double network_gbs; /* each way */
    int rack;           /* 0 where nobody says */
    double across;      /* a factor on what it exchanges with other racks */
};

struct sim_slow_link {
    int a, b; /* nodes */
    double factor;
};

struct sim_topology {
    int n_ranks, n_nodes;
    int *node_of;      /* by rank */
    double *intra_gbs; /* by rank: to the others of its node, each way */
    struct sim_node *nodes;
    struct sim_slow_link *slow_links;
    size_t n_slow_links;
};

/* names: the node of each rank, or NULL: all on one; borrowed as long as the topology.
 * Nodes are numbered by their first rank. What params say of nodes that are not here is
 * left out: they may be those of another case. */
int sim_topology_init(struct sim_topology *topology, int n_ranks, char *const *names,
                      const struct sim_params *params, struct error *err);
void sim_topology_release(struct sim_topology *topology);

/* What some of the ranks have of it, those of one group, while the other groups are at
 * work too: a node's way out is shared evenly by the groups that go over it. */
int sim_topology_select(const struct sim_topology *world,
                        const struct split_groups *groups, int group,
                        struct sim_topology *out, struct error *err);

/* GB/s from node a to node b, one way. */
double sim_topology_link(const struct sim_topology *topology, int a, int b);

/* What is not as the parameters say of all nodes: [{"node","network_gbs"} |
 * {"rank","intra_gbs"} | {"link":[a,b],"factor"} | {"node","across_racks"}]. New
 * reference. */
json_t *sim_topology_faults(const struct sim_topology *topology,
                            const struct sim_params *params);

#endif
