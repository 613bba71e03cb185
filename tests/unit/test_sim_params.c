/* test_sim_params.c - what a simulation is told, and what it refuses to hear */
#include "agent/worker/sim/sim_params.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

static int read_one(const char *variable, struct sim_params *params, struct error *err)
{
    char *copy = strdup(variable);
    char *const environment[] = {copy, NULL};
    int status = sim_params_read(environment, params, err);

    /* Lists are borrowed from the environment: none of these tests looks at one. */
    free(copy);
    return status;
}

TEST(everything_has_a_default)
{
    struct sim_params params;

    assert_int_equal(read_one("PATH=/bin", &params, NULL), 0);
    assert_near(params.base_us, 8.4, 1e-12);
    assert_near(params.bandwidth_gbs, 50, 1e-12);
    assert_near(params.sleep_fraction, 1, 1e-12);
    assert_true(params.seed < 0);
    assert_null(params.slow_nodes);
    assert_int_equal(params.algorithms, 15);
    assert_int_equal(params.protocols, 7);
}

TEST(numbers_and_names_are_read)
{
    char a[] = "SIM_BANDWIDTH_GBS=12.5", b[] = "NCCL_ALGO=Tree,PAT",
         c[] = "NCCL_PROTO=^ll,Simple", d[] = "SIM_SLOW_NODE=n1:0.5,n2:0.25",
         e[] = "SIM_SEED=0";
    char *const environment[] = {a, b, c, d, e, NULL};
    struct sim_params params;

    assert_int_equal(sim_params_read(environment, &params, NULL), 0);
    assert_near(params.bandwidth_gbs, 12.5, 1e-12);
    assert_near(params.seed, 0, 1e-12);
    assert_int_equal(params.algorithms, 1u << SIM_TREE | 1u << SIM_PAT | 1u << SIM_P2P);
    assert_int_equal(params.protocols, 1u << SIM_LL128);
    assert_string_equal(params.slow_nodes, "n1:0.5,n2:0.25");
}

TEST(what_is_wrong_is_named)
{
    static const struct {
        const char *variable, *names; /* each sentence is whole in one row */
    } samples[] = {
        {"SIM_BANDWITH_GBS=1", "SIM_BANDWITH_GBS is no variable of the simulation"},
        {"SIM_LATENCY_US=fast", "SIM_LATENCY_US=fast must be a number from 0 to 1e+09"},
        {"SIM_LATENCY_US=", "SIM_LATENCY_US= 0 1e+09"},
        {"SIM_LATENCY_US=nan", "SIM_LATENCY_US=nan 0 1e+09"},
        {"SIM_LATENCY_US=1 ", "SIM_LATENCY_US=1 0 1e+09"},
        {"SIM_BANDWIDTH_GBS=0", "SIM_BANDWIDTH_GBS=0 1e-06 1e+09"},
        {"SIM_NOISE=-1", "SIM_NOISE=-1 0 2"},
        {"NCCL_ALGO=ring,nvls",
         "NCCL_ALGO=ring,nvls: the simulation has no \"nvls\"; it has Ring, Tree, PAT"},
        {"NCCL_ALGO=allreduce:tree",
         "NCCL_ALGO=allreduce:tree: \"allreduce:tree\" Ring, Tree, PAT"},
        {"NCCL_PROTO=p2p", "NCCL_PROTO=p2p: \"p2p\" LL, LL128, Simple"},
        {"NCCL_PROTO=^LL,LL128,Simple",
         "NCCL_PROTO=^LL,LL128,Simple leaves none of LL, LL128, Simple"},
        {"SIM_CHANGE=x:2",
         "SIM_CHANGE=x:2: x must be the number of a case, or seconds as "
         "in 0.5s"},
        {"SIM_CHANGE=1ss:2", "SIM_CHANGE=1ss:2: 1ss 0.5s"},
        {"SIM_SLOW_NODE=n1", "SIM_SLOW_NODE=n1 must be a list of NAME:VALUE with values "
                             "above 0"},
        {"SIM_SLOW_NODE=n1:", "SIM_SLOW_NODE=n1: NAME:VALUE 0"},
        {"SIM_SLOW_NODE=n1:0", "SIM_SLOW_NODE=n1:0 NAME:VALUE 0"},
        {"SIM_SLOW_NODE=:1", "SIM_SLOW_NODE=:1 NAME:VALUE 0"},
        {"SIM_SLOW_LINK=a-b:0.5x", "SIM_SLOW_LINK=a-b:0.5x NAME:VALUE 0"},
    };

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        struct sim_params params;
        struct error err = {0};
        if (!read_one(samples[i].variable, &params, &err))
            fail_msg("%s is accepted", samples[i].variable);
        assert_int_equal(err.code, ERROR_INVALID);
        assert_mentions(err.text, samples[i].names);
    }
}

TEST(a_list_is_taken_apart)
{
    const char *list = "node-1:0.5,b:2";
    struct sim_item item;

    assert_int_equal(sim_list_next(&list, &item), 1);
    assert_int_equal(item.name_len, 6);
    assert_memory_equal(item.name, "node-1", 6);
    assert_near(item.value, 0.5, 0);
    assert_int_equal(sim_list_next(&list, &item), 1);
    assert_memory_equal(item.name, "b", 1);
    assert_int_equal(sim_list_next(&list, &item), 0);
    list = NULL;
    assert_int_equal(sim_list_next(&list, &item), 0);
}
