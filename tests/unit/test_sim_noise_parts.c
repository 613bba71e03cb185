/* test_sim_noise_parts.c - what cases differ by: a little each, some a lot, some hours */
#include "agent/worker/sim/noise.h"
#include "agent/worker/sim/noise_parts.h"
#include "tests/unit/test.h"

#define CASES 20000

/* Up to two variables, "" is none. */
static struct sim_params params_of(const char *one, const char *other)
{
    char texts[2][64];
    char *const environment[] = {texts[0], texts[1], NULL};
    struct sim_params params;
    struct error err;

    snprintf(texts[0], sizeof(texts[0]), "%s", one);
    snprintf(texts[1], sizeof(texts[1]), "%s", other);
    if (sim_params_read(environment, &params, &err))
        fail_msg("%s", err.text);
    return params;
}

TEST(cases_differ_by_one_per_cent)
{
    struct sim_params params = params_of("", "");
    double sum = 0, squares = 0;

    for (uint64_t i = 0; i < CASES; i++) {
        double z = log(noise_of_case(&params, 42, i));

        sum += z;
        squares += z * z;
    }
    assert_near(sum / CASES, 0, 5 * 0.01 / sqrt(CASES));
    assert_near(sqrt(squares / CASES), 0.01, 0.0005);
}

TEST(without_noise_there_is_none_of_cases_either)
{
    struct sim_params params = params_of("SIM_NOISE=0", "");

    assert_near(noise_of_case(&params, 42, 7), 1, 0);
    params = params_of("SIM_NOISE=0", "SIM_CASE_NOISE=0.3");
    assert_true(fabs(log(noise_of_case(&params, 42, 7))) > 0.001);
}

TEST(a_case_is_the_same_to_all_and_other_cases_are_others)
{
    struct sim_params params = params_of("", "");

    assert_near(noise_of_case(&params, 42, 7), noise_of_case(&params, 42, 7), 0);
    assert_true(fabs(noise_of_case(&params, 42, 7) - noise_of_case(&params, 42, 8)) > 0);
    assert_true(fabs(noise_of_case(&params, 42, 7) - noise_of_case(&params, 43, 7)) > 0);
}

TEST(some_cases_are_disturbed)
{
    struct sim_params params = params_of("SIM_OUTLIERS=0.1", "SIM_OUTLIER_FACTOR=5");
    int outliers = 0;

    for (uint64_t i = 0; i < CASES; i++)
        outliers += noise_of_case(&params, 42, i) > 4;
    assert_near((double)outliers / CASES, 0.1, 0.012);
}

/* Drawn anew in every fifth case, which half the time leaves it as it is. */
TEST(states_last_from_case_to_case)
{
    struct sim_params params = params_of("SIM_STATES=0.5", "SIM_STATE_CASES=5");
    int slow = 0, changes = 0;
    bool was_slow = false;

    for (uint64_t i = 0; i < CASES; i++) {
        double value = noise_of_case(&params, 42, i);
        bool is_slow = value > 2;

        assert_true((value > 2.8 && value < 3.2) || (value > 0.9 && value < 1.1));
        slow += is_slow;
        changes += i > 0 && is_slow != was_slow;
        was_slow = is_slow;
    }
    assert_near((double)slow / CASES, 0.5, 0.05);
    assert_near((double)changes / CASES, 0.1, 0.01);
}
