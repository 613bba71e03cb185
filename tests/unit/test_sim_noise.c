/* test_sim_noise.c - noise that is random to look at and the same each time */
#include "agent/worker/sim/noise.h"
#include "tests/unit/test.h"

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
