/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_noise.c - noise that is random to look at and the same each time */
#include "agent/worker/sim/noise.h"
#include "tests/unit/sim_fixture.h"

#define DRAWS 100000

/* The reference generator's second and third numbers for the seed 0: key 0 is its first
 * step. */
TEST(splits_as_splitmix64_does)
{
    assert_true(noise_split(0, 0) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(noise_split(0, 1) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(noise_split(0, 2) == UINT64_C(0x06c45d188009454f));
}

TEST(is_a_function_of_the_seed)
{
    assert_true(noise_split(7, 3) == noise_split(7, 3));
    assert_true(noise_split(7, 3) != noise_split(7, 4));
    assert_true(noise_split(7, 3) != noise_split(8, 3));
    assert_near(noise_normal(99), noise_normal(99), 0);
}

/* Five standard errors of each moment; the draws are fixed, so it never fails by chance.
 */
TEST(is_distributed_normally)
{
    double sum = 0, squares = 0, cubes = 0, fourths = 0;
    int beyond_two = 0;

    for (uint64_t i = 0; i < DRAWS; i++) {
        double z = noise_normal(noise_split(42, i));
        assert_true(isfinite(z));
        sum += z;
        squares += z * z;
        cubes += z * z * z;
        fourths += z * z * z * z;
        beyond_two += fabs(z) > 2;
    }
    assert_near(sum / DRAWS, 0, 5 * sqrt(1.0 / DRAWS));
    assert_near(squares / DRAWS, 1, 5 * sqrt(2.0 / DRAWS));
    assert_near(cubes / DRAWS, 0, 5 * sqrt(15.0 / DRAWS));
    assert_near(fourths / DRAWS, 3, 5 * sqrt(96.0 / DRAWS));
    assert_near((double)beyond_two / DRAWS, 0.0455, 0.0035);
}

TEST(neighbours_are_not_correlated)
{
    double products = 0;

    for (uint64_t i = 0; i < DRAWS; i++) {
        products +=
            noise_normal(noise_split(42, i)) * noise_normal(noise_split(42, i + 1));
    }
    assert_near(products / DRAWS, 0, 5 * sqrt(1.0 / DRAWS));
}

/* ---- Factors ---- */

#define CASES 20000

/* The standard deviation of log(noise) over the cases, whose mean is 0. */
static double sigma_of_cases(const char *variables, bool is_of_runs)
{
    struct sim_params params;
    double sum = 0, squares = 0;

    sim_params_of(&params, variables);
    for (uint64_t i = 0; i < CASES; i++) {
        double z = log(noise_of_case(&params, is_of_runs ? i : 42, is_of_runs ? 0 : i));

        sum += z;
        squares += z * z;
    }
    double sigma = sqrt(squares / CASES);
    assert_near(sum / CASES, 0, 5 * sigma / sqrt(CASES) + 1e-12);
    return sigma;
}

TEST(cases_and_runs_differ_as_told)
{
    assert_near(sigma_of_cases("", false), 0.01, 0.0005);
    assert_near(sigma_of_cases("SIM_NOISE=0", false), 0, 0);
    assert_near(sigma_of_cases("SIM_NOISE=0 SIM_CASE_NOISE=0.3", false), 0.3, 0.01);
    assert_near(sigma_of_cases("SIM_CASE_NOISE=0", true), 0, 0);
    assert_near(sigma_of_cases("SIM_CASE_NOISE=0 SIM_RUN_NOISE=0.05", true), 0.05, 0.002);
}

TEST(nights_drift_and_have_noise_of_their_own)
{
    struct sim_params params;
    uint64_t first;

    sim_params_of(&params, "SIM_NOISE=0 SIM_DRIFT=0.002 SIM_NIGHT=30");
    assert_near(noise_of_case(&params, 42, 5), pow(1.002, 30), 1e-12);
    first = noise_seed(&params, 42, 5);
    assert_true(first == noise_seed(&params, 42, 5) &&
                first != noise_seed(&params, 42, 6));
    params.night = 31;
    assert_true(first != noise_seed(&params, 42, 5));
}

TEST(the_mean_of_many_calls_has_less_noise)
{
    struct sim_params params;
    double one = 0, hundred = 0;

    sim_params_of(&params, "SIM_NOISE=0.2");
    for (uint64_t i = 0; i < CASES; i++) {
        one += pow(log(noise_of_calls(&params, 42, i, 1, 3)), 2);
        hundred += pow(log(noise_of_calls(&params, 42, i, 100, 3)), 2);
    }
    /* Shared by the ranks 0.2, and a quarter of that for each. */
    assert_near(sqrt(one / CASES), 0.2 * sqrt(1 + 1.0 / 16), 0.005);
    assert_near(sqrt(hundred / CASES), 0.02 * sqrt(1 + 1.0 / 16), 0.0005);
}
