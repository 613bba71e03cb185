/* SPDX-License-Identifier: Apache-2.0 */
/* test_order_stat.c - quantiles, and intervals of a median that cover it */
#include "common/base/order_stat.h"
#include "tests/unit/seeded_noise.h"
#include "tests/unit/test.h"

TEST(quantiles_are_of_the_nearest_rank)
{
    static const struct {
        size_t n;
        double share, want;
    } table[] = {
        {1, 0.5, 0}, {1, 0.99, 0}, {2, 0.5, 0},     {3, 0.5, 1},
        {4, 0.5, 1}, {5, 0.99, 4}, {100, 0.99, 98}, {101, 0.99, 99},
        {5, 0, 0},   {5, 1, 4},    {8, 0.05, 0},    {1000, 0.5, 499},
    };
    double values[1000];

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        for (size_t k = 0; k < table[i].n; k++)
            values[(k * 7 + 3) % table[i].n] = (double)k; /* in no order */
        order_stat_sort(values, table[i].n);
        for (size_t k = 0; k < table[i].n; k++)
            assert_true(values[k] == (double)k);
        assert_true(order_stat_quantile(values, table[i].n, table[i].share) ==
                    table[i].want);
    }
}

/* From tables of the sign test (Dixon and Mood, 1946), and by hand. */
TEST(ranks_are_those_of_the_binomial_distribution)
{
    static const struct {
        size_t n, rank;
        double level, coverage;
    } table[] = {
        {1, 0, 0.95, 0},           {5, 0, 0.95, 0},
        {5, 1, 0.93, 0.9375},      {6, 1, 0.95, 0.96875},
        {8, 1, 0.95, 0.9921875},   {9, 2, 0.95, 0.9609375},
        {20, 6, 0.95, 0.95861053}, {50, 18, 0.95, 0.96716142},
        {50, 16, 0.99, 0.9934},    {100, 40, 0.95, 0.96479980},
        {6, 3, 0, 0.3125},         {1000, 469, 0.95, 0.9537},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        size_t k = order_stat_rank(table[i].n, table[i].level);

        assert_int_equal(k, table[i].rank);
        if (k > 0)
            assert_float_equal(order_stat_coverage(table[i].n, k), table[i].coverage,
                               1e-4);
    }
    /* Where a coin's powers are beyond a double's. */
    assert_in_range(order_stat_rank(100000, 0.95), 49685, 49695);
}

TEST(too_few_values_have_no_interval)
{
    const double values[] = {1, 2, 3, 4, 5};
    double low = -1, high = -1;

    assert_false(order_stat_interval(values, 5, 0.95, &low, &high));
    assert_true(low == -1 && high == -1);
    assert_true(order_stat_interval(values, 5, 0.9, &low, &high));
    assert_true(low == 1 && high == 5);
}

TEST(intervals_cover_the_median_whatever_the_shape)
{
    static const size_t sizes[] = {6, 9, 20, 51};

    for (int shape = 0; shape < NOISE_COUNT; shape++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            struct noise noise = {.shape = (enum noise_shape)shape, .seed = 7};
            double values[51], low, high;
            int covered = 0;

            for (int i = 0; i < 4000; i++) {
                for (size_t k = 0; k < sizes[s]; k++)
                    values[k] = noise_next(&noise);
                order_stat_sort(values, sizes[s]);
                assert_true(order_stat_interval(values, sizes[s], 0.95, &low, &high));
                covered += low <= noise_median(&noise) && noise_median(&noise) <= high;
            }
            /* 4 standard errors below 95 %. */
            assert_in_range(covered, 4000 * 0.936, 4000);
        }
    }
}
