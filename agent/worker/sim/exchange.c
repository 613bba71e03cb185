/* exchange.c - how long the links of a topology take for exchanges between pairs */
#include "agent/worker/sim/exchange.h"

#define BYTES_PER_US 1000.0 /* of 1 GB/s */

static double greater(double a, double b)
{
    return a > b ? a : b;
}

double exchange_round_us(const struct sim_topology *topology, int mask, double bytes,
                         bool *crosses)
{
    double us = 0;

    *crosses = false;
    for (int rank = 0; rank < topology->n_ranks; rank++) {
        int node = topology->node_of[rank], leaving = 0, partner;

        if ((rank ^ mask) >= topology->n_ranks)
            continue;
        partner = topology->node_of[rank ^ mask];
        if (partner == node) {
            us = greater(us, bytes / (BYTES_PER_US * topology->intra_gbs[rank]));
            continue;
        }
        /* Those of its node that leave too share the way out. */
        for (int i = 0; i < topology->n_ranks; i++) {
            int with = i ^ mask;
            leaving += topology->node_of[i] == node && with < topology->n_ranks &&
                       topology->node_of[with] != node;
        }
        *crosses = true;
        us = greater(us, leaving * bytes /
                             (BYTES_PER_US * sim_topology_link(topology, node, partner)));
    }
    return us;
}

/* Bytes from all ranks of one node to all of another; their ranks' own links count, too.
 */
static double node_bytes(const struct sim_topology *topology,
                         const struct traffic *traffic, double total, int a, int b)
{
    double bytes = 0;
    int n = topology->n_ranks;

    for (int i = 0; i < n; i++) {
        for (int k = 0; topology->node_of[i] == a && k < n; k++)
            if (topology->node_of[k] == b)
                bytes += (double)traffic_bytes(traffic, i, k, n, (uint64_t)total);
    }
    return bytes;
}

/* The longest of what a rank sends to others of its node and gets from them. */
static double inside_us(const struct sim_topology *topology,
                        const struct traffic *traffic, double total)
{
    double us = 0;
    int n = topology->n_ranks;

    for (int i = 0; i < n; i++) {
        double sent = 0, received = 0;

        for (int k = 0; k < n; k++) {
            if (k != i && topology->node_of[k] == topology->node_of[i]) {
                sent += (double)traffic_bytes(traffic, i, k, n, (uint64_t)total);
                received += (double)traffic_bytes(traffic, k, i, n, (uint64_t)total);
            }
        }
        us = greater(us,
                     greater(sent, received) / (BYTES_PER_US * topology->intra_gbs[i]));
    }
    return us;
}

double exchange_traffic_us(const struct sim_topology *topology,
                           const struct traffic *traffic, double bytes)
{
    double us = inside_us(topology, traffic, bytes);

    for (int a = 0; a < topology->n_nodes; a++) {
        double out = 0, in = 0;

        for (int b = 0; b < topology->n_nodes; b++) {
            double there = a == b ? 0 : node_bytes(topology, traffic, bytes, a, b);

            out += there;
            in += a == b ? 0 : node_bytes(topology, traffic, bytes, b, a);
            if (there > 0) {
                us = greater(us,
                             there / (BYTES_PER_US * sim_topology_link(topology, a, b)));
            }
        }
        us = greater(us,
                     greater(out, in) / (BYTES_PER_US * topology->nodes[a].network_gbs));
    }
    return us;
}
