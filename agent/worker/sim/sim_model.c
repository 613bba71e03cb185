/* sim_model.c - what a collective takes: latency and bandwidth per algorithm and protocol
 */
#include "agent/worker/sim/sim_model.h"

#include <assert.h>
#include <math.h>

#include "agent/worker/sim/exchange.h"

#define P2P_LL_BYTES 16384    /* NCCL_P2P_LL_THRESHOLD, of each peer's message */
#define RING_PLATEAU_BYTES 64 /* per channel and rank, from where the ring ... */
#define RING_PLATEAU 1.4      /* ... with Simple has more latency */
#define SIMPLE_OVERHEAD 3.0   /* network overheads of a step of Simple */
#define PAT_STEP 3.5          /* of the latency of a hop, hidden behind others */
#define PAT_RANK_US 2.8       /* with hops of 14 us */

/* Of the hardware that the table below is for; a parameter scales its column. */
#define BASE_US 8.4
#define NET_US 14.0
#define INTRA_US 3.4

/* Microseconds, and the part of the bandwidth that the protocol leaves. */
struct cost {
    double base_us, intra_us, net_us, efficiency;
};

static const struct cost costs[SIM_ALGORITHMS][SIM_PROTOCOLS] = {
    [SIM_RING] = {{6.6, 0.6, 2.7, 0.5}, {14, 1.9, 4, 0.92}, {8.4, 3.4, 14, 1}},
    [SIM_TREE] = {{6.8, 0.6, 5, 0.92 / 3.8}, {14, 1.25, 8.5, 0.92}, {8.4, 4, 14, 0.92}},
    [SIM_PAT] = {[SIM_SIMPLE] = {8, 0, 14, 0.75}},
    [SIM_P2P] = {[SIM_LL] = {6.6, 0.6, 2.7, 0.5}, [SIM_SIMPLE] = {8.4, 3.4, 14, 1}},
};

#define TREE_LL128_ONE_NODE (7.0 / 9)
#define TREE_LL128 (120.0 / 128)

static struct cost cost_of(const struct sim_model *model, enum sim_algorithm algorithm,
                           enum sim_protocol protocol)
{
    const struct sim_params *params = model->params;
    struct cost cost = costs[algorithm][protocol];

    cost.base_us *= params->base_us / BASE_US;
    cost.intra_us *= params->intra_latency_us / INTRA_US;
    cost.net_us *= params->latency_us / NET_US;
    if (algorithm == SIM_TREE && protocol == SIM_LL128) {
        cost.efficiency *=
            model->topology->n_nodes > 1 ? TREE_LL128 : TREE_LL128_ONE_NODE;
    }
    return cost;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double slowest_rank(const struct sim_topology *topology)
{
    double gbs = HUGE_VAL;

    for (int rank = 0; rank < topology->n_ranks; rank++)
        if (topology->nodes[topology->node_of[rank]].ranks > 1 || topology->n_ranks == 1)
            gbs = lesser(gbs, topology->intra_gbs[rank]);
    return gbs;
}

/* The nodes in a ring. */
static double slowest_of_ring(const struct sim_topology *topology)
{
    double gbs = HUGE_VAL;
    int n = topology->n_nodes;

    for (int node = 0; n > 1 && node < n; node++)
        gbs = lesser(gbs, sim_topology_link(topology, node, (node + 1) % n));
    return gbs;
}

/* The nodes in a binary tree. */
static double slowest_of_tree(const struct sim_topology *topology)
{
    double gbs = HUGE_VAL;

    for (int node = 1; node < topology->n_nodes; node++)
        gbs = lesser(gbs, sim_topology_link(topology, node, (node - 1) / 2));
    return gbs;
}

/* In step k each node exchanges with the one 2^k further. */
static double slowest_of_pat(const struct sim_topology *topology)
{
    double gbs = HUGE_VAL;
    int n = topology->n_nodes;

    for (int step = 1; step < n; step *= 2)
        for (int node = 0; node < n; node++)
            gbs = lesser(gbs, sim_topology_link(topology, node, (node + step) % n));
    return gbs;
}

/* All to all of S bytes per rank: each pair of ranks exchanges S / R. */
static double slowest_of_alltoall(const struct sim_topology *topology)
{
    double n = topology->n_ranks, gbs = HUGE_VAL;

    for (int i = 0; topology->n_nodes > 1 && i < topology->n_nodes; i++) {
        const struct sim_node *node = &topology->nodes[i];
        gbs = lesser(gbs, node->network_gbs * n / (node->ranks * (n - node->ranks)));
    }
    for (size_t i = 0; i < topology->n_slow_links; i++) {
        const struct sim_slow_link *link = &topology->slow_links[i];
        double pairs =
            (double)topology->nodes[link->a].ranks * topology->nodes[link->b].ranks;
        gbs = lesser(gbs, sim_topology_link(topology, link->a, link->b) * n / pairs);
    }
    for (int rank = 0; rank < topology->n_ranks; rank++) {
        double peers = topology->nodes[topology->node_of[rank]].ranks - 1;
        if (peers > 0)
            gbs = lesser(gbs, topology->intra_gbs[rank] * n / peers);
    }
    return gbs;
}

void sim_model_init(struct sim_model *model, const struct sim_params *params,
                    const struct sim_topology *topology)
{
    double inside = slowest_rank(topology);

    *model = (struct sim_model){.params = params, .topology = topology};
    model->bus_gbs[SIM_RING] = lesser(inside, slowest_of_ring(topology));
    model->bus_gbs[SIM_TREE] = lesser(inside, slowest_of_tree(topology));
    model->bus_gbs[SIM_PAT] = lesser(inside, slowest_of_pat(topology));
    model->alltoall_gbs = slowest_of_alltoall(topology);
}

static void set_estimate(const struct sim_call *call, double latency_us, double gbs,
                         struct sim_estimate *out)
{
    out->latency_us = latency_us;
    out->gbs = gbs;
    out->us = latency_us + call->bytes / (1000 * gbs);
}

/* Every rank hands on to the next; `inter` of the `steps` go between nodes. */
static void estimate_ring(const struct sim_model *model, const struct sim_call *call,
                          enum sim_protocol protocol, struct sim_estimate *out)
{
    const struct sim_params *params = model->params;
    const struct cost cost = cost_of(model, SIM_RING, protocol);
    double ranks = model->topology->n_ranks, nodes = model->topology->n_nodes;
    double hop = cost.intra_us, steps = ranks - 1, inter = nodes - 1,
           share = ranks / steps;

    if (nodes > 1) {
        double overhead =
            params->overhead_us * (protocol == SIM_SIMPLE ? SIMPLE_OVERHEAD : 1);
        hop = hop > overhead ? hop : overhead;
    }
    if (call->kind == COLLECTIVE_ALL_REDUCE) {
        steps *= 2;
        inter *= 2;
        share /= 2;
    } else if (collective_facts(call->kind)->is_rooted) {
        share = 1;
    }
    double latency = cost.base_us + (steps - inter) * hop + inter * cost.net_us;
    if (call->kind == COLLECTIVE_ALL_REDUCE && protocol == SIM_SIMPLE && nodes > 1 &&
        call->bytes >= RING_PLATEAU_BYTES * params->channels * ranks)
        latency *= RING_PLATEAU;
    set_estimate(call, latency, model->bus_gbs[SIM_RING] * cost.efficiency * share, out);
}

static double floor_log2(int n)
{
    int steps = 0;

    while (n > 1) {
        n /= 2;
        steps++;
    }
    return steps;
}

/* A chain in each node, the nodes in a tree: up and down. */
static void estimate_tree(const struct sim_model *model, const struct sim_call *call,
                          enum sim_protocol protocol, struct sim_estimate *out)
{
    const struct sim_topology *topology = model->topology;
    const struct cost cost = cost_of(model, SIM_TREE, protocol);
    int per_node = (topology->n_ranks + topology->n_nodes - 1) / topology->n_nodes;
    double latency = cost.base_us + 2 * ((per_node - 1) * cost.intra_us +
                                         floor_log2(topology->n_nodes) * cost.net_us);

    set_estimate(call, latency, model->bus_gbs[SIM_TREE] * cost.efficiency / 2, out);
}

static void estimate_pat(const struct sim_model *model, const struct sim_call *call,
                         enum sim_protocol protocol, struct sim_estimate *out)
{
    const struct cost cost = cost_of(model, SIM_PAT, protocol);
    int ranks = model->topology->n_ranks;
    double latency = cost.base_us + floor_log2(ranks) * cost.net_us / PAT_STEP +
                     PAT_RANK_US * ranks * cost.net_us / NET_US;

    set_estimate(call, latency, model->bus_gbs[SIM_PAT] * cost.efficiency, out);
}

/* The root exchanges S / R with each other rank. */
static double rooted_gbs(const struct sim_model *model, int root)
{
    const struct sim_topology *topology = model->topology;
    double n = topology->n_ranks, gbs = HUGE_VAL;
    int home = topology->node_of[root];
    const struct sim_node *node = &topology->nodes[home];

    if (topology->n_nodes > 1)
        gbs = node->network_gbs * n / (n - node->ranks);
    for (int i = 0; i < topology->n_nodes; i++) {
        if (i != home) {
            gbs = lesser(gbs, sim_topology_link(topology, i, home) * n /
                                  topology->nodes[i].ranks);
        }
    }
    if (node->ranks > 1)
        gbs = lesser(gbs, topology->intra_gbs[root] * n / (node->ranks - 1));
    return gbs;
}

static bool is_inside(const struct sim_topology *topology, int rank, int next)
{
    return topology->node_of[rank] == topology->node_of[next];
}

static double neighbour_gbs(const struct sim_topology *topology, int rank, int next)
{
    if (is_inside(topology, rank, next))
        return lesser(topology->intra_gbs[rank], topology->intra_gbs[next]);
    return sim_topology_link(topology, topology->node_of[rank], topology->node_of[next]);
}

/* One of the messages of a ring of neighbours. */
static double neighbour_us(const struct sim_model *model, const struct sim_call *call,
                           enum sim_protocol protocol, int rank)
{
    const struct cost cost = cost_of(model, SIM_P2P, protocol);
    int next = (rank + 1) % model->topology->n_ranks;
    bool inside = is_inside(model->topology, rank, next);

    return cost.base_us + (inside ? cost.intra_us : cost.net_us) +
           call->bytes /
               (1000 * cost.efficiency * neighbour_gbs(model->topology, rank, next));
}

static void estimate_sendrecv(const struct sim_model *model, const struct sim_call *call,
                              enum sim_protocol protocol, struct sim_estimate *out)
{
    const struct sim_call empty = {.kind = call->kind, .root = -1};
    int slowest = 0;

    for (int rank = 1; rank < model->topology->n_ranks; rank++)
        if (neighbour_us(model, call, protocol, rank) >
            neighbour_us(model, call, protocol, slowest))
            slowest = rank;
    int next = (slowest + 1) % model->topology->n_ranks;
    set_estimate(call, neighbour_us(model, &empty, protocol, slowest),
                 neighbour_gbs(model->topology, slowest, next) *
                     cost_of(model, SIM_P2P, protocol).efficiency,
                 out);
}

/* log2(n) exchanges, one after the other. */
static void estimate_hypercube(const struct sim_model *model, const struct sim_call *call,
                               enum sim_protocol protocol, struct sim_estimate *out)
{
    const struct cost cost = cost_of(model, SIM_P2P, protocol);
    double latency = 0, transfer = 0, share = call->bytes / model->topology->n_ranks;

    for (int mask = 1; mask < model->topology->n_ranks; mask *= 2) {
        bool crosses;
        transfer += exchange_round_us(model->topology, mask, share * mask, &crosses) /
                    cost.efficiency;
        latency += cost.base_us + (crosses ? cost.net_us : cost.intra_us);
    }
    set_estimate(call, latency, transfer > 0 ? call->bytes / (1000 * transfer) : 1, out);
}

static double alltoallv_gbs(const struct sim_model *model, const struct sim_call *call)
{
    double us = model->traffic
                    ? exchange_traffic_us(model->topology, model->traffic, call->bytes)
                    : 0;

    return us > 0 ? call->bytes / (1000 * us) : model->alltoall_gbs;
}

/* All messages at once; a rank gets `gbs` in all. */
static void set_p2p(const struct sim_model *model, const struct sim_call *call,
                    enum sim_protocol protocol, double gbs, struct sim_estimate *out)
{
    const struct cost cost = cost_of(model, SIM_P2P, protocol);
    double peers = model->topology->n_ranks - 1;
    double hop = model->topology->n_nodes > 1 ? cost.net_us : cost.intra_us;

    set_estimate(call, cost.base_us + hop + peers * model->params->message_us,
                 gbs * cost.efficiency, out);
}

static void estimate_alltoall(const struct sim_model *model, const struct sim_call *call,
                              enum sim_protocol protocol, struct sim_estimate *out)
{
    set_p2p(model, call, protocol, model->alltoall_gbs, out);
}

static void estimate_alltoallv(const struct sim_model *model, const struct sim_call *call,
                               enum sim_protocol protocol, struct sim_estimate *out)
{
    set_p2p(model, call, protocol, alltoallv_gbs(model, call), out);
}

static void estimate_rooted(const struct sim_model *model, const struct sim_call *call,
                            enum sim_protocol protocol, struct sim_estimate *out)
{
    set_p2p(model, call, protocol, rooted_gbs(model, call->root), out);
}

/* ---- Collectives ---- */

typedef void estimate_fn(const struct sim_model *model, const struct sim_call *call,
                         enum sim_protocol protocol, struct sim_estimate *out);

enum waiting { FOR_ALL, FOR_ROOT, AT_ROOT, FOR_NEIGHBOURS };

/* How it can be done, and whose being late a rank feels. */
static const struct {
    estimate_fn *by[SIM_ALGORITHMS];
    enum waiting waits;
} kinds[COLLECTIVE_COUNT] = {
    [COLLECTIVE_ALL_REDUCE] = {{[SIM_RING] = estimate_ring, [SIM_TREE] = estimate_tree},
                               FOR_ALL},
    [COLLECTIVE_ALL_GATHER] = {{[SIM_RING] = estimate_ring, [SIM_PAT] = estimate_pat},
                               FOR_ALL},
    [COLLECTIVE_REDUCE_SCATTER] = {{[SIM_RING] = estimate_ring, [SIM_PAT] = estimate_pat},
                                   FOR_ALL},
    [COLLECTIVE_BROADCAST] = {{[SIM_RING] = estimate_ring}, FOR_ROOT},
    [COLLECTIVE_REDUCE] = {{[SIM_RING] = estimate_ring}, AT_ROOT},
    [COLLECTIVE_ALLTOALL] = {{[SIM_P2P] = estimate_alltoall}, FOR_ALL},
    [COLLECTIVE_GATHER] = {{[SIM_P2P] = estimate_rooted}, AT_ROOT},
    [COLLECTIVE_SCATTER] = {{[SIM_P2P] = estimate_rooted}, FOR_ROOT},
    [COLLECTIVE_SENDRECV] = {{[SIM_P2P] = estimate_sendrecv}, FOR_NEIGHBOURS},
    [COLLECTIVE_HYPERCUBE] = {{[SIM_P2P] = estimate_hypercube}, FOR_ALL},
    [COLLECTIVE_ALLTOALLV] = {{[SIM_P2P] = estimate_alltoallv}, FOR_ALL},
};

/* NCCL's rule, whatever the parameters say of protocols. */
static enum sim_protocol p2p_protocol(const struct sim_model *model,
                                      const struct sim_call *call)
{
    double peer = call->kind == COLLECTIVE_SENDRECV
                      ? call->bytes
                      : call->bytes / model->topology->n_ranks;

    return peer <= P2P_LL_BYTES ? SIM_LL : SIM_SIMPLE;
}

static bool is_available(const struct sim_model *model, const struct sim_call *call,
                         enum sim_algorithm algorithm, enum sim_protocol protocol)
{
    const struct sim_topology *topology = model->topology;

    return kinds[call->kind].by[algorithm] &&
           (algorithm != SIM_P2P || protocol == p2p_protocol(model, call)) &&
           (algorithm != SIM_PAT ||
            (protocol == SIM_SIMPLE && topology->n_nodes == topology->n_ranks));
}

/* The latency and the limit of the bus bandwidth that the parameters have for it. */
static void set_told(const struct sim_model *model, const struct sim_call *call,
                     struct sim_estimate *out)
{
    double latency = model->params->algorithm_us[out->algorithm];
    double limit = model->params->algorithm_gbs[out->algorithm] /
                   collective_bus_factor(call->kind, model->topology->n_ranks);

    set_estimate(call, latency >= 0 ? latency : out->latency_us,
                 limit > 0 ? lesser(limit, out->gbs) : out->gbs, out);
}

bool sim_model_estimate(const struct sim_model *model, const struct sim_call *call,
                        enum sim_algorithm algorithm, enum sim_protocol protocol,
                        struct sim_estimate *out)
{
    if (!is_available(model, call, algorithm, protocol))
        return false;
    *out = (struct sim_estimate){.algorithm = algorithm, .protocol = protocol};
    if (model->topology->n_ranks == 1) { /* a copy */
        set_estimate(call, cost_of(model, algorithm, protocol).base_us,
                     model->bus_gbs[SIM_RING], out);
        return true;
    }
    kinds[call->kind].by[algorithm](model, call, protocol, out);
    set_told(model, call, out);
    return true;
}

static bool choose(const struct sim_model *model, const struct sim_call *call,
                   unsigned algorithms, unsigned protocols, struct sim_estimate *best)
{
    struct sim_estimate one;
    bool has_one = false;

    for (int i = 0; i < (int)SIM_ALGORITHMS * (int)SIM_PROTOCOLS; i++) {
        int algorithm = i / SIM_PROTOCOLS, protocol = i % SIM_PROTOCOLS;
        if (algorithms & (1u << algorithm) && protocols & (1u << protocol) &&
            sim_model_estimate(model, call, (enum sim_algorithm)algorithm,
                               (enum sim_protocol)protocol, &one) &&
            (!has_one || one.us < best->us)) {
            *best = one;
            has_one = true;
        }
    }
    return has_one;
}

struct sim_estimate sim_model_choose(const struct sim_model *model,
                                     const struct sim_call *call)
{
    const struct sim_params *params = model->params;
    struct sim_estimate best = {0};

    bool has_one = choose(model, call, params->algorithms, params->protocols, &best) ||
                   choose(model, call, ~0u, params->protocols, &best) ||
                   choose(model, call, ~0u, ~0u, &best);
    assert(has_one);
    return best;
}

double sim_model_rank_us(const struct sim_model *model, const struct sim_call *call,
                         const struct sim_estimate *estimate, int rank)
{
    int n = model->topology->n_ranks;

    if (call->kind != COLLECTIVE_SENDRECV || n == 1)
        return estimate->us;
    double sends = neighbour_us(model, call, estimate->protocol, rank);
    double receives = neighbour_us(model, call, estimate->protocol, (rank + n - 1) % n);
    return sends > receives ? sends : receives;
}

bool sim_model_waits_for(const struct sim_call *call, int n_ranks, int rank, int other)
{
    switch (kinds[call->kind].waits) {
    case FOR_ROOT:
        return other == rank || other == call->root;
    case AT_ROOT:
        return other == rank || rank == call->root;
    case FOR_NEIGHBOURS:
        return other == rank || other == (rank + 1) % n_ranks ||
               rank == (other + 1) % n_ranks;
    case FOR_ALL:
        break;
    }
    return true;
}
