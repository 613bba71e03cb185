/* test_sim_topology.c - nodes, links and what is wrong with them */
#include "agent/worker/sim/sim_topology.h"
#include "tests/unit/test.h"

static char node_1[] = "node-1", node_2[] = "node-2", node_3[] = "node-3";
static char *const names[] = {node_1, node_1, node_2, node_2, node_3};

static struct sim_params defaults(void)
{
    char *const none[] = {NULL};
    struct sim_params params;

    assert_int_equal(sim_params_read(none, &params, NULL), 0);
    return params;
}

TEST(ranks_stand_on_their_nodes)
{
    const struct sim_params params = defaults();
    struct sim_topology topology;

    assert_int_equal(sim_topology_init(&topology, 5, names, &params, NULL), 0);
    assert_int_equal(topology.n_nodes, 3);
    assert_string_equal(topology.nodes[1].name, "node-2");
    assert_int_equal(topology.nodes[1].ranks, 2);
    assert_int_equal(topology.nodes[2].ranks, 1);
    assert_int_equal(topology.node_of[3], 1);
    assert_int_equal(topology.node_of[4], 2);
    assert_near(sim_topology_link(&topology, 0, 2), 50, 1e-9);
    json_t *faults = sim_topology_faults(&topology, &params);
    assert_int_equal(json_array_size(faults), 0);
    json_decref(faults);
    sim_topology_release(&topology);
}

TEST(without_names_all_are_on_one_node)
{
    const struct sim_params params = defaults();
    struct sim_topology topology;

    assert_int_equal(sim_topology_init(&topology, 4, NULL, &params, NULL), 0);
    assert_int_equal(topology.n_nodes, 1);
    assert_int_equal(topology.nodes[0].ranks, 4);
    sim_topology_release(&topology);
}

TEST(faults_are_where_they_are_said_to_be)
{
    struct sim_params params = defaults();
    struct sim_topology topology;

    params.slow_nodes = "node-2:0.5,elsewhere:0.1";
    params.wrong_interfaces = "node-3:1.25";
    params.slow_ranks = "0:0.25,77:0.5,x:0.5";
    params.slow_links = "node-1-node-2:0.5,node-1-nowhere:0.1";
    assert_int_equal(sim_topology_init(&topology, 5, names, &params, NULL), 0);
    assert_near(topology.nodes[1].network_gbs, 25, 1e-9);
    assert_near(topology.intra_gbs[2], 150, 1e-9);
    assert_near(topology.intra_gbs[3], 150, 1e-9);
    assert_near(topology.intra_gbs[0], 75, 1e-9);
    assert_near(topology.intra_gbs[1], 300, 1e-9);
    assert_near(topology.nodes[2].network_gbs, 1.25, 1e-9);
    assert_int_equal(topology.n_slow_links, 1);
    assert_near(sim_topology_link(&topology, 0, 1), 12.5, 1e-9);
    assert_near(sim_topology_link(&topology, 1, 0), 12.5, 1e-9);
    assert_near(sim_topology_link(&topology, 0, 2), 1.25, 1e-9);
    json_t *faults = sim_topology_faults(&topology, &params);
    assert_int_equal(json_array_size(faults), 6); /* 2 nodes, 3 ranks, 1 link */
    json_decref(faults);
    sim_topology_release(&topology);
}
