/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_model.c - the model's times compared with numbers worked by hand
 *
 * Without noise, with the default latencies (8 us, 2 us a step, 5 us a level) and bus
 * bandwidths (48 GB/s by ring, 24 by tree). */
#include "tests/unit/sim_fixture.h"

static double us_of(const struct sim_cluster *cluster, enum collective_kind kind,
                    double bytes, enum sim_algorithm algorithm)
{
    return sim_model_us(&cluster->model, kind, bytes, algorithm);
}

TEST(a_time_is_a_latency_and_a_bandwidth)
{
    struct sim_cluster four;

    sim_cluster_make(&four, 4, 2, "SIM_NOISE=0", 0, "");
    /* 8 ranks: 14 steps, and 14/8 of 48e6 bytes at 48 GB/s. */
    assert_near(us_of(&four, COLLECTIVE_ALL_REDUCE, 48e6, SIM_RING), 8 + 28 + 1750, 1e-6);
    /* 3 levels up and down. */
    assert_near(us_of(&four, COLLECTIVE_ALL_REDUCE, 48e6, SIM_TREE), 8 + 30 + 3500, 1e-6);
    assert_near(us_of(&four, COLLECTIVE_ALL_GATHER, 48e6, SIM_RING), 8 + 14 + 875, 1e-6);
    assert_near(us_of(&four, COLLECTIVE_BROADCAST, 48e6, SIM_RING), 8 + 14 + 1000, 1e-6);
    assert_near(us_of(&four, COLLECTIVE_ALLTOALL, 48e6, SIM_P2P), 8 + 14 + 875, 1e-6);
    assert_near(us_of(&four, COLLECTIVE_SENDRECV, 48e6, SIM_P2P), 8 + 2 + 1000, 1e-6);
    assert_near(us_of(&four, COLLECTIVE_HYPERCUBE, 0, SIM_P2P), 8 + 6, 1e-6);
    /* Ways that there are not. */
    assert_true(us_of(&four, COLLECTIVE_BROADCAST, 8, SIM_TREE) >= HUGE_VAL);
    assert_true(us_of(&four, COLLECTIVE_ALLTOALL, 8, SIM_RING) >= HUGE_VAL);
    assert_true(us_of(&four, COLLECTIVE_ALL_REDUCE, 8, SIM_P2P) >= HUGE_VAL);
    sim_cluster_release(&four);
}

TEST(one_rank_copies)
{
    struct sim_cluster one;

    sim_cluster_make(&one, 1, 1, "SIM_NOISE=0", 0, "");
    for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
        struct sim_estimate estimate =
            sim_model_choose(&one.model, (enum collective_kind)kind, 48e6);

        assert_near(estimate.us, 1008, 1e-6);
    }
    sim_cluster_release(&one);
}

/* 4 ranks: a bus bandwidth of 40 GB/s is 2/3 of that per byte. The lines 10 us + S / 20
 * and 100 us + S / 26.7 GB/s cross at 7.2 MB. */
TEST(two_algorithms_cross)
{
    struct sim_cluster four;
    struct sim_estimate estimate;

    sim_cluster_make(
        &four, 4, 1,
        "SIM_BASE_US=0 SIM_TREE_US=2.5 SIM_TREE_GBS=30 SIM_RING_US=16.666667 "
        "SIM_RING_GBS=40",
        0, "");
    estimate = sim_model_choose(&four.model, COLLECTIVE_ALL_REDUCE, 7e6);
    assert_near(estimate.us, 10 + 7e6 / 20e3, 1e-3);
    assert_int_equal(estimate.algorithm, SIM_TREE);
    estimate = sim_model_choose(&four.model, COLLECTIVE_ALL_REDUCE, 8e6);
    assert_near(estimate.us, 100 + 8e6 / (40e3 / 1.5), 1e-3);
    assert_int_equal(estimate.algorithm, SIM_RING);
    sim_cluster_release(&four);
}

TEST(NCCL_ALGO_is_obeyed_where_there_is_such_a_way)
{
    struct sim_cluster four;
    struct sim_estimate estimate;

    sim_cluster_make(&four, 4, 1, "NCCL_ALGO=Tree", 0, "");
    estimate = sim_model_choose(&four.model, COLLECTIVE_ALL_REDUCE, 1e9);
    assert_int_equal(estimate.algorithm, SIM_TREE);
    assert_false(estimate.is_unrequested);
    estimate = sim_model_choose(&four.model, COLLECTIVE_ALL_GATHER, 1e9);
    assert_int_equal(estimate.algorithm, SIM_RING);
    assert_true(estimate.is_unrequested);
    estimate = sim_model_choose(&four.model, COLLECTIVE_ALLTOALL, 1e9);
    assert_int_equal(estimate.algorithm, SIM_P2P);
    assert_false(estimate.is_unrequested);
    sim_cluster_release(&four);
    sim_cluster_make(&four, 4, 1, "NCCL_ALGO=Ring", 0, "");
    estimate = sim_model_choose(&four.model, COLLECTIVE_ALL_REDUCE, 8);
    assert_int_equal(estimate.algorithm, SIM_RING);
    sim_cluster_release(&four);
}

/* What is left of the bandwidth by ring, by tree, of messages. */
static void assert_factors(const char *slow, int number, double ring, double tree,
                           double p2p)
{
    struct sim_cluster cluster;
    char variables[200];

    snprintf(variables, sizeof(variables), "SIM_SLOW=%s", slow);
    sim_cluster_make(&cluster, 8, 2, variables, number, "");
    assert_near(cluster.model.factor[SIM_RING], ring, 1e-9);
    assert_near(cluster.model.factor[SIM_TREE], tree, 1e-9);
    assert_near(cluster.model.factor[SIM_P2P], p2p, 1e-9);
    sim_cluster_release(&cluster);
}

TEST(the_slowest_part_that_is_used_counts)
{
    assert_factors("n5:0.5", 0, 0.5, 0.5, 0.5);
    assert_factors("n5:0.5,n5:0.5,elsewhere:0.1,n1/elsewhere:0.1", 0, 0.25, 0.25, 0.25);
    /* Neighbors in the ring; in the tree 2 is 5's parent. */
    assert_factors("n2/n3:0.5", 0, 0.5, 1, 0.5);
    assert_factors("n5/n2:0.5", 0, 1, 0.5, 0.5);
    assert_factors("n0/n7:0.5", 0, 0.5, 1, 0.5);
    assert_factors("n1/n6:0.5", 0, 1, 1, 0.5);
    /* Nodes 2 and 3, on what they exchange with other racks. */
    assert_factors("rack-2:0.5", 0, 0.5, 0.5, 0.5);
    assert_factors("rack-9:0.5", 0, 1, 1, 1);
    assert_factors("*:0.5", 0, 0.5, 0.5, 0.5);
}

TEST(parts_are_slow_in_their_cases_only)
{
    for (int number = 0; number < 6; number++) {
        double left = number == 2 || number == 3 ? 0.5 : 1;

        assert_factors("n5:0.5@2-3", number, left, left, left);
        left = number >= 4 ? 0.5 : 1;
        assert_factors("n5:0.5@4", number, left, left, left);
    }
}

TEST(a_rack_is_slow_to_other_racks_only)
{
    struct sim_cluster pair;

    sim_cluster_make(&pair, 2, 2, "SIM_SLOW=rack-1:0.5", 0, "");
    assert_near(pair.model.factor[SIM_RING], 1, 0);
    sim_cluster_release(&pair);
}

TEST(neighbors_have_their_own_times)
{
    struct sim_cluster four;
    struct sim_estimate estimate;

    sim_cluster_make(&four, 4, 2, "SIM_SLOW=n1/n2:0.5", 0, "");
    estimate = sim_model_choose(&four.model, COLLECTIVE_SENDRECV, 48e6);
    assert_near(estimate.us, 2010, 1e-6);
    for (int rank = 0; rank < 8; rank++)
        assert_near(
            sim_model_rank_us(&four.model, COLLECTIVE_SENDRECV, 48e6, &estimate, rank),
            rank == 3 || rank == 4 ? 2010 : 1010, 1e-6);
    sim_cluster_release(&four);
}

TEST(nothing_passes_a_factor_of_0)
{
    struct sim_cluster four;

    sim_cluster_make(&four, 4, 2, "SIM_SLOW=n1:0", 0, "");
    assert_true(sim_model_choose(&four.model, COLLECTIVE_ALL_REDUCE, 8).us >= HUGE_VAL);
    for (int rank = 0; rank < 8; rank++)
        assert_int_equal(sim_model_hangs(&four.model, rank), rank == 2 || rank == 3);
    sim_cluster_release(&four);
    /* At a link all wait, and nobody stays behind. */
    sim_cluster_make(&four, 4, 2, "SIM_SLOW=n1/n2:0 NCCL_ALGO=Ring", 0, "");
    assert_true(sim_model_choose(&four.model, COLLECTIVE_ALL_REDUCE, 8).us >= HUGE_VAL);
    for (int rank = 0; rank < 8; rank++)
        assert_false(sim_model_hangs(&four.model, rank));
    sim_cluster_release(&four);
}

TEST(each_group_has_a_model_of_its_own)
{
    struct sim_cluster four;
    struct sim_model second;

    sim_cluster_make(&four, 4, 2, "SIM_SLOW=n1:0.5", 0, "{\"split\":\"node\"}");
    assert_int_equal(four.file->groups.n, 4);
    assert_int_equal(four.model.n_ranks, 2);
    assert_near(four.model.factor[SIM_RING], 1, 0);
    sim_model_init(&second, &four.params, four.file, 1, NULL, NULL);
    assert_string_equal(second.nodes[0].name, "n1");
    assert_near(second.factor[SIM_RING], 0.5, 0);
    assert_true(second.seed != four.model.seed);
    sim_model_release(&second);
    sim_cluster_release(&four);
}
