/* test_sim_model.c - the model's times against numbers worked by hand
 *
 * The clusters: "one" is a node of 8 ranks, "four" is 4 nodes of 2 ranks, "flat" is 8
 * nodes of 1 rank; 50 GB/s between nodes, 300 GB/s within. */
#include "agent/worker/sim/sim_model.h"
#include "tests/unit/test.h"

struct cluster {
    struct sim_params params;
    struct sim_topology topology;
    struct sim_model model;
    char text[64][16];
    char *names[64];
};

static void set_up(struct cluster *cluster, int nodes, int per_node)
{
    char *const none[] = {NULL};

    assert_int_equal(sim_params_read(none, &cluster->params, NULL), 0);
    for (int rank = 0; rank < nodes * per_node; rank++) {
        snprintf(cluster->text[rank], sizeof(cluster->text[rank]), "n%d",
                 rank / per_node);
        cluster->names[rank] = cluster->text[rank];
    }
}

static void begin(struct cluster *cluster, int nodes, int per_node)
{
    assert_int_equal(sim_topology_init(&cluster->topology, nodes * per_node,
                                       cluster->names, &cluster->params, NULL),
                     0);
    sim_model_init(&cluster->model, &cluster->params, &cluster->topology);
}

static double us(const struct cluster *cluster, enum collective_kind kind, double bytes,
                 enum sim_algorithm algorithm, enum sim_protocol protocol)
{
    struct sim_call call = {.kind = kind, .bytes = bytes, .root = 0};
    struct sim_estimate estimate;

    if (!sim_model_estimate(&cluster->model, &call, algorithm, protocol, &estimate))
        return -1;
    return estimate.us;
}

TEST(one_node_is_linear_in_ranks)
{
    struct cluster one;

    set_up(&one, 1, 8);
    begin(&one, 1, 8);
    /* 14 steps. */
    assert_near(us(&one, COLLECTIVE_ALL_REDUCE, 0, SIM_RING, SIM_LL), 6.6 + 14 * 0.6,
                1e-9);
    assert_near(us(&one, COLLECTIVE_ALL_REDUCE, 0, SIM_RING, SIM_LL128), 14 + 14 * 1.9,
                1e-9);
    /* 3e8 bytes at 300 GB/s * 8/14. */
    assert_near(us(&one, COLLECTIVE_ALL_REDUCE, 3e8, SIM_RING, SIM_SIMPLE),
                8.4 + 14 * 3.4 + 1750, 1e-6);
    /* 7 steps, and 8/7 of the bandwidth. */
    assert_near(us(&one, COLLECTIVE_ALL_GATHER, 3e8, SIM_RING, SIM_SIMPLE),
                8.4 + 7 * 3.4 + 875, 1e-6);
    assert_near(us(&one, COLLECTIVE_REDUCE_SCATTER, 3e8, SIM_RING, SIM_LL),
                6.6 + 7 * 0.6 + 2 * 875, 1e-6);
    assert_near(us(&one, COLLECTIVE_BROADCAST, 3e8, SIM_RING, SIM_SIMPLE),
                8.4 + 7 * 3.4 + 1000, 1e-6);
    /* A chain of 8, up and down; 300 * 0.92 / 2 GB/s, and 7/9 of it for LL128. */
    assert_near(us(&one, COLLECTIVE_ALL_REDUCE, 138e6, SIM_TREE, SIM_SIMPLE),
                8.4 + 14 * 4 + 1000, 1e-6);
    assert_near(us(&one, COLLECTIVE_ALL_REDUCE, 138e6, SIM_TREE, SIM_LL128),
                14 + 14 * 1.25 + 1000 * 9 / 7.0, 1e-6);
    assert_near(us(&one, COLLECTIVE_ALL_REDUCE, 138e6, SIM_TREE, SIM_LL),
                6.8 + 14 * 0.6 + 3800, 1e-6);
    sim_topology_release(&one.topology);
}

TEST(hops_between_nodes_cost_more)
{
    struct cluster four;

    set_up(&four, 4, 2);
    begin(&four, 4, 2);
    /* 14 steps, 6 of them between nodes; inside at least the network's overhead of 1. */
    assert_near(us(&four, COLLECTIVE_ALL_REDUCE, 0, SIM_RING, SIM_LL),
                6.6 + 8 * 1 + 6 * 2.7, 1e-9);
    /* Below 64 bytes per channel and rank (8192) the latency is not the plateau's. */
    assert_near(us(&four, COLLECTIVE_ALL_REDUCE, 8000, SIM_RING, SIM_SIMPLE),
                8.4 + 8 * 3.4 + 6 * 14 + 8000 / (1000 * 50 * 8 / 14.0), 1e-6);
    assert_near(us(&four, COLLECTIVE_ALL_REDUCE, 5e7, SIM_RING, SIM_SIMPLE),
                1.4 * (8.4 + 8 * 3.4 + 6 * 14) + 1750, 1e-6);
    /* 7 steps, 3 between nodes, at 50 GB/s * 8/7. */
    assert_near(us(&four, COLLECTIVE_ALL_GATHER, 5e7, SIM_RING, SIM_SIMPLE),
                8.4 + 4 * 3.4 + 3 * 14 + 875, 1e-6);
    /* Up and down: one hop in the node, two levels of nodes. */
    assert_near(us(&four, COLLECTIVE_ALL_REDUCE, 23e6, SIM_TREE, SIM_SIMPLE),
                8.4 + 2 * (4 + 2 * 14) + 1000, 1e-6);
    assert_near(us(&four, COLLECTIVE_ALL_REDUCE, 23e6, SIM_TREE, SIM_LL128),
                14 + 2 * (1.25 + 2 * 8.5) + 1000 * 128 / 120.0, 1e-6);
    sim_topology_release(&four.topology);
}

TEST(pat_is_for_one_rank_per_node)
{
    struct cluster flat, four;

    set_up(&flat, 8, 1);
    begin(&flat, 8, 1);
    set_up(&four, 4, 2);
    begin(&four, 4, 2);
    /* Three levels, and 2.8 us a rank; 50 * 0.75 GB/s. */
    assert_near(us(&flat, COLLECTIVE_ALL_GATHER, 37.5e6, SIM_PAT, SIM_SIMPLE),
                8 + 3 * 14 / 3.5 + 2.8 * 8 + 1000, 1e-6);
    assert_true(us(&four, COLLECTIVE_ALL_GATHER, 1, SIM_PAT, SIM_SIMPLE) < 0);
    assert_true(us(&flat, COLLECTIVE_ALL_REDUCE, 1, SIM_PAT, SIM_SIMPLE) < 0);
    assert_true(us(&flat, COLLECTIVE_ALL_GATHER, 1, SIM_PAT, SIM_LL) < 0);
    assert_true(us(&flat, COLLECTIVE_BROADCAST, 1, SIM_TREE, SIM_LL) < 0);
    assert_true(us(&flat, COLLECTIVE_ALLTOALL, 1, SIM_RING, SIM_LL) < 0);
    sim_topology_release(&flat.topology);
    sim_topology_release(&four.topology);
}

TEST(messages_share_the_links)
{
    struct cluster four;

    set_up(&four, 4, 2);
    begin(&four, 4, 2);
    /* Each pair exchanges 1e6 bytes: a node sends 12 of them at 50 GB/s. */
    assert_near(us(&four, COLLECTIVE_ALLTOALL, 8e6, SIM_P2P, SIM_SIMPLE),
                8.4 + 14 + 7 + 240, 1e-6);
    /* The root's node takes 6e6 bytes. */
    assert_near(us(&four, COLLECTIVE_GATHER, 8e6, SIM_P2P, SIM_SIMPLE),
                8.4 + 14 + 7 + 120, 1e-6);
    assert_near(us(&four, COLLECTIVE_SCATTER, 8e6, SIM_P2P, SIM_SIMPLE),
                8.4 + 14 + 7 + 120, 1e-6);
    /* Small messages go by LL, whatever is asked for. */
    assert_near(us(&four, COLLECTIVE_ALLTOALL, 8000, SIM_P2P, SIM_LL),
                6.6 + 2.7 + 7 + 0.48, 1e-6);
    assert_true(us(&four, COLLECTIVE_ALLTOALL, 8000, SIM_P2P, SIM_SIMPLE) < 0);
    assert_true(us(&four, COLLECTIVE_ALLTOALL, 8e6, SIM_P2P, SIM_LL) < 0);
    sim_topology_release(&four.topology);
}

TEST(neighbours_have_their_own_times)
{
    struct cluster four;
    struct sim_call call = {.kind = COLLECTIVE_SENDRECV, .bytes = 5e7, .root = -1};

    set_up(&four, 4, 2);
    four.params.slow_links = "n1-n2:0.5";
    begin(&four, 4, 2);
    struct sim_estimate estimate = sim_model_choose(&four.model, &call);
    assert_int_equal(estimate.algorithm, SIM_P2P);
    /* Ranks 3 and 4 are at the slow link, the others exchange with a node at 50 GB/s. */
    assert_near(estimate.us, 8.4 + 14 + 2000, 1e-6);
    assert_near(sim_model_rank_us(&four.model, &call, &estimate, 3), 8.4 + 14 + 2000,
                1e-6);
    assert_near(sim_model_rank_us(&four.model, &call, &estimate, 4), 8.4 + 14 + 2000,
                1e-6);
    assert_near(sim_model_rank_us(&four.model, &call, &estimate, 5), 8.4 + 14 + 1000,
                1e-6);
    assert_near(sim_model_rank_us(&four.model, &call, &estimate, 0), 8.4 + 14 + 1000,
                1e-6);
    sim_topology_release(&four.topology);
}

TEST(the_fastest_way_is_chosen)
{
    struct cluster four;
    struct sim_call small = {.kind = COLLECTIVE_ALL_REDUCE, .bytes = 8, .root = -1};
    struct sim_call large = {.kind = COLLECTIVE_ALL_REDUCE, .bytes = 1e9, .root = -1};

    set_up(&four, 4, 2);
    begin(&four, 4, 2);
    struct sim_estimate estimate = sim_model_choose(&four.model, &small);
    assert_int_equal(estimate.algorithm, SIM_TREE);
    assert_int_equal(estimate.protocol, SIM_LL);
    estimate = sim_model_choose(&four.model, &large);
    assert_int_equal(estimate.algorithm, SIM_RING);
    assert_int_equal(estimate.protocol, SIM_SIMPLE);
    four.params.algorithms = 1u << SIM_TREE | 1u << SIM_P2P;
    four.params.protocols = 1u << SIM_LL128;
    estimate = sim_model_choose(&four.model, &large);
    assert_int_equal(estimate.algorithm, SIM_TREE);
    assert_int_equal(estimate.protocol, SIM_LL128);
    /* There is no tree for this: the ring, but with the protocol that was asked for. */
    large.kind = COLLECTIVE_ALL_GATHER;
    estimate = sim_model_choose(&four.model, &large);
    assert_int_equal(estimate.algorithm, SIM_RING);
    assert_int_equal(estimate.protocol, SIM_LL128);
    sim_topology_release(&four.topology);
}

TEST(one_slow_node_slows_what_passes_it)
{
    struct cluster flat;

    set_up(&flat, 8, 1);
    flat.params.wrong_interfaces = "n5:5";
    begin(&flat, 8, 1);
    assert_near(us(&flat, COLLECTIVE_ALL_GATHER, 5e6, SIM_RING, SIM_SIMPLE),
                8.4 + 7 * 14 + 875, 1e-6);
    assert_near(us(&flat, COLLECTIVE_ALLTOALL, 8e6, SIM_P2P, SIM_SIMPLE),
                8.4 + 14 + 7 + 1400, 1e-6);
    /* Gathering, it sends an eighth; scattering from it takes it all. */
    assert_near(us(&flat, COLLECTIVE_GATHER, 8e6, SIM_P2P, SIM_SIMPLE),
                8.4 + 14 + 7 + 200, 1e-6);
    struct sim_call call = {.kind = COLLECTIVE_SCATTER, .bytes = 8e6, .root = 5};
    assert_near(sim_model_choose(&flat.model, &call).us, 8.4 + 14 + 7 + 1400, 1e-6);
    sim_topology_release(&flat.topology);
}

TEST(a_slow_link_counts_only_where_it_is_used)
{
    struct cluster flat;

    set_up(&flat, 8, 1);
    flat.params.slow_links = "n2-n5:0.1";
    begin(&flat, 8, 1);
    assert_near(flat.model.bus_gbs[SIM_RING], 50, 1e-9);
    assert_near(flat.model.bus_gbs[SIM_TREE], 5, 1e-9); /* 2 is 5's parent */
    assert_near(flat.model.bus_gbs[SIM_PAT], 50, 1e-9);
    /* One message of 1e6 bytes at 5 GB/s; the others take 7 at 50. */
    assert_near(us(&flat, COLLECTIVE_ALLTOALL, 8e6, SIM_P2P, SIM_SIMPLE),
                8.4 + 14 + 7 + 200, 1e-6);
    sim_topology_release(&flat.topology);
}

TEST(one_rank_copies)
{
    struct cluster one;
    struct sim_call call = {.bytes = 3e8};

    set_up(&one, 1, 1);
    begin(&one, 1, 1);
    for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
        call.kind = (enum collective_kind)kind;
        struct sim_estimate estimate = sim_model_choose(&one.model, &call);
        assert_true(estimate.us > 1000 && estimate.us < 1020);
        assert_near(sim_model_rank_us(&one.model, &call, &estimate, 0), estimate.us,
                    1e-9);
    }
    sim_topology_release(&one.topology);
}

TEST(parameters_scale_their_part)
{
    struct cluster four;

    set_up(&four, 4, 2);
    four.params.base_us = 16.8;
    four.params.latency_us = 28;
    four.params.intra_latency_us = 6.8;
    four.params.bandwidth_gbs = 25;
    begin(&four, 4, 2);
    assert_near(us(&four, COLLECTIVE_ALL_GATHER, 5e7, SIM_RING, SIM_SIMPLE),
                2 * (8.4 + 4 * 3.4 + 3 * 14 + 875), 1e-6);
    assert_near(us(&four, COLLECTIVE_ALL_REDUCE, 0, SIM_RING, SIM_LL),
                2 * (6.6 + 8 * 0.6 + 6 * 2.7), 1e-6);
    sim_topology_release(&four.topology);
}

TEST(who_waits_for_whom)
{
    static const struct {
        enum collective_kind kind;
        int rank, other;
        bool waits;
    } samples[] = {
        {COLLECTIVE_ALL_REDUCE, 0, 7, true}, {COLLECTIVE_BROADCAST, 3, 0, true},
        {COLLECTIVE_BROADCAST, 3, 2, false}, {COLLECTIVE_REDUCE, 0, 3, true},
        {COLLECTIVE_REDUCE, 2, 3, false},    {COLLECTIVE_SENDRECV, 7, 0, true},
        {COLLECTIVE_SENDRECV, 0, 7, true},   {COLLECTIVE_SENDRECV, 0, 2, false},
        {COLLECTIVE_GATHER, 0, 5, true},     {COLLECTIVE_SCATTER, 1, 5, false},
    };

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        struct sim_call call = {.kind = samples[i].kind, .root = 0};
        assert_int_equal(sim_model_waits_for(&call, 8, samples[i].rank, samples[i].other),
                         samples[i].waits);
    }
}
