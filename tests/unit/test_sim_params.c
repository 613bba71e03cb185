/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_params.c - the variables of a simulation, and which of them are refused */
#include "agent/worker/sim/sim_params.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

static int read_one(const char *variable, struct sim_params *params, struct error *err)
{
    char *copy = strdup(variable);
    char *const environment[] = {copy, NULL};
    int status = sim_params_read(environment, params, err);

    /* A list is borrowed from the environment: these tests do not look at it. */
    free(copy);
    return status;
}

TEST(everything_has_a_default)
{
    struct sim_params params;

    assert_int_equal(read_one("PATH=/bin", &params, NULL), 0);
    assert_near(params.base_us, 8, 1e-12);
    assert_near(params.gbs[SIM_RING], 48, 1e-12);
    assert_near(params.sleep_fraction, 1, 1e-12);
    assert_true(params.seed < 0 && params.case_noise < 0);
    assert_null(params.slow);
    assert_int_equal(params.algorithms, 3);
}

TEST(numbers_and_names_are_read)
{
    char a[] = "SIM_TREE_GBS=12.5", b[] = "NCCL_ALGO=Tree", c[] = "SIM_SLOW=n1:0.5,n2:0",
         d[] = "SIM_SEED=0";
    char *const environment[] = {a, b, c, d, NULL};
    struct sim_params params;

    assert_int_equal(sim_params_read(environment, &params, NULL), 0);
    assert_near(params.gbs[SIM_TREE], 12.5, 1e-12);
    assert_near(params.seed, 0, 1e-12);
    assert_int_equal(params.algorithms, 1u << SIM_TREE);
    assert_string_equal(params.slow, "n1:0.5,n2:0");
    assert_int_equal(read_one("NCCL_ALGO=^ring", &params, NULL), 0);
    assert_int_equal(params.algorithms, 1u << SIM_TREE);
}

TEST(errors_name_the_variable)
{
    static const struct {
        const char *variable, *names;
    } samples[] = {
        {"SIM_BANDWITH=1", "SIM_BANDWITH is not a variable of the simulation"},
        {"SIM_RING_US=fast", "SIM_RING_US=fast must be a number from 0 to 1e+09"},
        {"SIM_RING_US=", "SIM_RING_US= 0 1e+09"},
        {"SIM_RING_US=nan", "SIM_RING_US=nan 0 1e+09"},
        {"SIM_RING_US=1 ", "SIM_RING_US=1 0 1e+09"},
        {"SIM_RING_GBS=0", "SIM_RING_GBS=0 1e-06 1e+09"},
        {"SIM_NOISE=-1", "SIM_NOISE=-1 0 2"},
        {"NCCL_ALGO=ring,nvls", "NCCL_ALGO=ring,nvls \"nvls\" Ring Tree"},
        {"NCCL_ALGO=allreduce:tree", "\"allreduce:tree\" Ring Tree"},
        {"NCCL_ALGO=P2P", "\"P2P\" Ring Tree"},
        {"NCCL_ALGO=^ring,tree", "NCCL_ALGO=^ring,tree Ring Tree"},
        {"SIM_SLOW=n1", "SIM_SLOW 'n1' PLACE:FACTOR"},
        {"SIM_SLOW=n1:0.5,n2:", "SIM_SLOW 'n2:' PLACE:FACTOR"},
        {"SIM_SLOW=n1:-1", "'n1:-1'"},
        {"SIM_SLOW=:1", "':1'"},
        {"SIM_SLOW=a/b:0.5x", "'a/b:0.5x'"},
        {"SIM_SLOW=a:0.5@", "'a:0.5@'"},
        {"SIM_SLOW=a:0.5@3-", "'a:0.5@3-'"},
        {"SIM_SLOW=a:0.5@3-4-5", "'a:0.5@3-4-5'"},
        {"SIM_SLOW=a:0.5@7-4", "'a:0.5@7-4'"},
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

TEST(a_list_of_slow_places_is_taken_apart)
{
    const char *list = "node-1:0.5,a/b:2@3,*:0@4-7";
    struct sim_slow item;

    assert_int_equal(sim_slow_next(&list, &item), 1);
    assert_int_equal(item.place_len, 6);
    assert_memory_equal(item.place, "node-1", 6);
    assert_near(item.factor, 0.5, 0);
    assert_true(item.from_case <= 0 && item.last >= HUGE_VAL);
    assert_int_equal(sim_slow_next(&list, &item), 1);
    assert_memory_equal(item.place, "a/b", 3);
    assert_true(item.from_case >= 3 && item.last >= HUGE_VAL);
    assert_int_equal(sim_slow_next(&list, &item), 1);
    assert_near(item.factor, 0, 0);
    assert_near(item.from_case, 4, 0);
    assert_near(item.last, 7, 0);
    assert_int_equal(sim_slow_next(&list, &item), 0);
    list = NULL;
    assert_int_equal(sim_slow_next(&list, &item), 0);
}
