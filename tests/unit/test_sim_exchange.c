/* test_sim_exchange.c - groups on shared links, exchanges between pairs of ranks */
#include "agent/worker/sim/exchange.h"
#include "tests/unit/test.h"

static char node_1[] = "node-1", node_2[] = "node-2";
static char *const names[] = {node_1, node_1, node_2, node_2};

/* Two nodes of two ranks: 100 GB/s inside (by default), 50 between. */
static struct sim_topology make(struct sim_params *params)
{
    char slow[] = "SIM_INTRA_BANDWIDTH_GBS=100";
    char *const environment[] = {slow, NULL};
    struct sim_topology topology;

    assert_int_equal(sim_params_read(environment, params, NULL), 0);
    assert_int_equal(sim_topology_init(&topology, 4, names, params, NULL), 0);
    return topology;
}

TEST(groups_share_the_way_out_of_a_node)
{
    static const int node_of[] = {0, 0, 1, 1}, local_rank[] = {0, 1, 0, 1};
    struct split by_place = {SPLIT_LOCAL_RANK, 0}, by_node = {SPLIT_NODE, 0};
    struct sim_params params;
    struct sim_topology world = make(&params), own;
    struct split_groups groups;

    assert_int_equal(split_form(&by_place, node_of, local_rank, 4, &groups), 0);
    assert_int_equal(sim_topology_select(&world, &groups, 1, &own, NULL), 0);
    assert_int_equal(own.n_ranks, 2);
    assert_int_equal(own.n_nodes, 2);
    assert_int_equal(own.nodes[1].ranks, 1);
    assert_near(sim_topology_link(&own, 0, 1), 25, 1e-9);
    sim_topology_release(&own);
    split_release(&groups);

    assert_int_equal(split_form(&by_node, node_of, local_rank, 4, &groups), 0);
    assert_int_equal(sim_topology_select(&world, &groups, 1, &own, NULL), 0);
    assert_int_equal(own.n_nodes, 1);
    assert_string_equal(own.nodes[0].name, "node-2");
    assert_near(own.nodes[0].network_gbs, 50, 1e-9);
    assert_near(own.intra_gbs[1], 100, 1e-9);
    sim_topology_release(&own);
    split_release(&groups);
    sim_topology_release(&world);
}

TEST(a_round_takes_what_its_slowest_pair_does)
{
    struct sim_params params;
    struct sim_topology world = make(&params);
    bool crosses;

    /* 1 MB at 100 GB/s. */
    assert_near(exchange_round_us(&world, 1, 1e6, &crosses), 10, 1e-9);
    assert_false(crosses);
    /* Both ranks of a node leave it, over 50 GB/s. */
    assert_near(exchange_round_us(&world, 2, 1e6, &crosses), 40, 1e-9);
    assert_true(crosses);
    sim_topology_release(&world);
}

TEST(traffic_takes_what_its_busiest_link_does)
{
    struct traffic even = {.spread = 0}, far = {.spread = 1};
    struct sim_params params;
    struct sim_topology world = make(&params);

    /* 4 MB a rank: 1 MB to each, 2 ranks to 2 others: 4 MB over 50 GB/s. */
    assert_near(exchange_traffic_us(&world, &even, 4e6), 80, 1e-6);
    /* 6 parts of 1 MB: of node 1's, 0 to 2 and 3: 2 + 3, and 1 to 2 and 3: 1 + 2. */
    assert_near(exchange_traffic_us(&world, &far, 6e6), 160, 1e-6);
    sim_topology_release(&world);
}
