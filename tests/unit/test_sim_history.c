/* test_sim_history.c - how the machine that is simulated changes: from run to run, from
 * night to night, within a run and within a case; and its two algorithms */
#include "test.h"

#include "agent/worker/sim/noise_parts.h"
#include "agent/worker/sim/sim.h"
#include "agent/worker/sim/sim_comm.h"

#define RUNS 20000
#define MAX_VARIABLES 6

struct told {
    char texts[MAX_VARIABLES][64];
    char *environment[MAX_VARIABLES + 1];
    struct sim_params params;
};

/* variables: separated by blanks. */
static void tell(struct told *told, const char *variables)
{
    struct error err = {0};
    int n = 0, used;

    for (; n < MAX_VARIABLES && sscanf(variables, " %63s%n", told->texts[n], &used) == 1;
         n++, variables += used)
        told->environment[n] = told->texts[n];
    told->environment[n] = NULL;
    if (sim_params_read(told->environment, &told->params, &err))
        fail_msg("%s", err.text);
}

static double log_of_run(struct told *told, uint64_t seed, double night)
{
    told->params.night = night;
    return log(noise_of_run(&told->params, seed));
}

TEST(runs_differ_only_if_told)
{
    struct told told;
    double squares = 0;

    tell(&told, "");
    assert_near(noise_of_run(&told.params, 42), 1, 0);
    tell(&told, "SIM_RUN_NOISE=0.01");
    for (uint64_t seed = 0; seed < RUNS; seed++)
        squares += pow(log_of_run(&told, seed, 0), 2);
    assert_near(sqrt(squares / RUNS), 0.01, 0.0003);
}

/* Over many series, on their 30th night: of the same variance, and correlated with the
 * night before and the one before that. */
TEST(nights_in_a_row_are_alike)
{
    struct told told;
    double squares = 0, next = 0, after_next = 0;

    tell(&told, "SIM_RUN_NOISE=0.01 SIM_CORRELATION=0.6");
    for (uint64_t seed = 0; seed < RUNS / 4; seed++) {
        double now = log_of_run(&told, seed, 30) / 0.01;

        squares += now * now;
        next += now * log_of_run(&told, seed, 31) / 0.01;
        after_next += now * log_of_run(&told, seed, 32) / 0.01;
    }
    assert_near(squares / (RUNS / 4.0), 1, 0.06);
    assert_near(next / (RUNS / 4.0), 0.6, 0.06);
    assert_near(after_next / (RUNS / 4.0), 0.36, 0.06);
}

TEST(nights_drift)
{
    struct told told;

    tell(&told, "SIM_DRIFT=0.002 SIM_NIGHT=30");
    assert_near(noise_of_run(&told.params, 42), pow(1.002, 30), 1e-12);
}

/* Or else cases would be disturbed by the same amount each night. */
TEST(each_night_has_noise_of_its_own)
{
    struct told told;

    tell(&told, "");
    assert_true(noise_night(&told.params, 42) == 42);
    tell(&told, "SIM_NIGHT=1");
    uint64_t first = noise_night(&told.params, 42);
    tell(&told, "SIM_NIGHT=2");
    assert_true(first != 42 && first != noise_night(&told.params, 42));
}

TEST(a_run_changes_from_a_case_on)
{
    struct told told;

    tell(&told, "SIM_NOISE=0 SIM_CHANGE=2:1.5,0.1s:9,4:1");
    for (uint64_t number = 0; number < 6; number++)
        assert_near(noise_of_case(&told.params, 42, number),
                    number == 2 || number == 3 ? 1.5 : 1, 0);
}

TEST(a_case_changes_from_a_second_on)
{
    const struct backend_call call = {
        .kind = COLLECTIVE_ALL_REDUCE, .dtype = DTYPE_FLOAT32, .root = -1, .count = 2};
    struct told told;

    tell(&told, "SIM_NOISE=0 SIM_FIRST_US=0 SIM_SLEEP_FRACTION=0 SIM_CHANGE=0.001s:3");
    struct sim_setting setting = {.world_size = 2, .environment = told.environment};
    struct sim_shared *shared = sim_shared_create(&setting, 0, NULL);
    assert_non_null(shared);
    struct backend_comm *comm = sim_comm_create(shared, 0, 0, NULL);
    assert_int_equal(sim_comm_spend(comm, &call, NULL), 0);
    double us = comm->clock.host_us, before = 0;
    while (before < 1500) {
        before = comm->clock.host_us;
        assert_int_equal(sim_comm_spend(comm, &call, NULL), 0);
        assert_near(comm->clock.host_us - before, before < 1000 ? us : 3 * us, 1e-6);
    }
    sim_comm_release(comm);
    sim_shared_destroy(shared);
}

static double us_of(const struct sim_model *model, double bytes,
                    enum sim_algorithm *algorithm)
{
    struct sim_call call = {.kind = COLLECTIVE_ALL_REDUCE, .bytes = bytes, .root = -1};
    struct sim_estimate estimate = sim_model_choose(model, &call);

    *algorithm = estimate.algorithm;
    return estimate.us;
}

/* 4 ranks: a bus bandwidth of 40 GB/s is 2/3 of that per byte. The lines 10 us + S / 20
 * and 100 us + S / 26.7 GB/s cross at 7.2 MB. */
TEST(two_algorithms_cross)
{
    static const char lines[] = "SIM_TREE_US=10 SIM_TREE_GBS=30 SIM_RING_US=100 "
                                "SIM_RING_GBS=40";
    char names[4][2] = {"a", "b", "c", "d"};
    char *nodes[] = {names[0], names[1], names[2], names[3]};
    struct sim_topology topology;
    enum sim_algorithm algorithm;
    struct sim_model model;
    struct told told;

    tell(&told, lines);
    assert_int_equal(sim_topology_init(&topology, 4, nodes, &told.params, NULL), 0);
    sim_model_init(&model, &told.params, &topology);
    assert_near(us_of(&model, 7e6, &algorithm), 10 + 7e6 / 20e3, 1e-9);
    assert_int_equal(algorithm, SIM_TREE);
    assert_near(us_of(&model, 8e6, &algorithm), 100 + 8e6 / (40e3 / 1.5), 1e-9);
    assert_int_equal(algorithm, SIM_RING);
    sim_topology_release(&topology);
}
