/* SPDX-License-Identifier: Apache-2.0 */
/* test_states.c - two states are found where there are two, and not where there is noise
 */
#include "server/analysis/states.h"
#include "tests/unit/test.h"

/* Microseconds of 8 bytes between two ranks of a virtual machine. */
TEST(states_of_a_hypervisor_are_found)
{
    const double us[] = {0.09, 0.43, 0.11, 0.14, 0.46, 0.08, 0.10, 0.41, 0.44, 0.12};
    struct states states;
    double logs[10];

    for (size_t i = 0; i < 10; i++)
        logs[i] = log(us[i]);
    states_find(logs, 10, &states);
    assert_true(states.found);
    assert_int_equal(states.upper, 4);
    assert_true(exp(states.split) > 0.14 && exp(states.split) < 0.41);
    assert_near(exp(states.apart), 4.15, 0.1);
}

TEST(one_value_that_stands_out_is_a_state)
{
    const double logs[] = {0.01, -0.012, 0.004, 0.7, -0.001, 0.008};
    struct states states;

    states_find(logs, 6, &states);
    assert_true(states.found);
    assert_int_equal(states.upper, 1);
}

static double normal(unsigned *seed)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += (double)rand_r(seed) / RAND_MAX;
    return sum - 6;
}

/* Of one per cent never, since a tenth must lie between them; of 30 % seldom. */
TEST(noise_is_no_states)
{
    unsigned seed = 7, small = 0, large = 0;
    struct states states;

    for (int draw = 0; draw < 2000; draw++) {
        double values[10];

        for (size_t i = 0; i < 10; i++)
            values[i] = normal(&seed);
        states_find(values, 10, &states);
        large += states.found;
        for (size_t i = 0; i < 10; i++)
            values[i] *= 0.01;
        states_find(values, 10, &states);
        small += states.found;
    }
    assert_int_equal(small, 0);
    assert_in_range(large, 0, 2000 * 3 / 100);
}

TEST(few_values_show_no_states)
{
    const double logs[] = {0, 1, 0, 1, 0};
    struct states states;

    states_find(logs, 5, &states);
    assert_false(states.found);
}
