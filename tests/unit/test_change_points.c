/* test_change_points.c - changes that are there are found, and where there is none, none
 */
#include "server/analysis/change_points.h"
#include "tests/unit/test.h"

#define PI 3.14159265358979323846

static double values[CHANGE_POINTS_VALUES_MAX];
static struct change_point found[CHANGE_POINTS_MAX];

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/* Noise of 1 % (Box and Muller); with outliers of 10 times that, as 5 of 100 are; of two
 * states 3 times apart. */
static double normal(uint64_t *state)
{
    return 0.01 * sqrt(-2.0 * log(uniform(state))) * cos(2.0 * PI * uniform(state));
}

static double with_outliers(uint64_t *state)
{
    return normal(state) * (uniform(state) < 0.05 ? 10.0 : 1.0);
}

static double two_states(uint64_t *state)
{
    return normal(state) + (uniform(state) < 0.5 ? 0.0 : 2.0);
}

typedef double noise_maker(uint64_t *state);

/* n values around 100; from `begin` to `end` they are `factor` times as much. */
static int find(noise_maker *noise, uint64_t *state, size_t n, size_t begin, size_t end,
                double factor)
{
    for (size_t i = 0; i < n; i++)
        values[i] = 100.0 * (1.0 + noise(state)) * (i >= begin && i < end ? factor : 1.0);
    return change_points_find(values, n, found);
}

/* 1 of 100 is what the thresholds are made for; 3.0 of 100 leaves room for the chance of
 * 400 series (its 99.9 % bound), so that a broken threshold fails. */
TEST(nothing_is_found_where_nothing_changed)
{
    static noise_maker *const noises[] = {normal, with_outliers, two_states};
    static const size_t lengths[] = {10, 11, 17, 30, 100, 330};
    uint64_t seed = 1;
    int all = 0;

    for (size_t k = 0; k < sizeof(noises) / sizeof(noises[0]); k++)
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            int alarms = 0;

            for (int series = 0; series < 400; series++)
                alarms += find(noises[k], &seed, lengths[i], 0, 0, 1.0) > 0;
            all += alarms;
            if (alarms > 12)
                fail_msg("noise %zu, %zu values: %d of 400 have changes", k, lengths[i],
                         alarms);
        }
    print_message("%d of 7200 series without a change have one\n", all);
    assert_in_range(all, 1, 108); /* 1.5 %: the bound for all of them together */
}

/* How many of 100 series have the changes, each within 2 values of where it is. */
static int found_of_100(noise_maker *noise, size_t n, size_t begin, size_t end,
                        double factor)
{
    uint64_t seed = 7;
    int right = 0, wanted = end < n ? 2 : 1;

    for (int series = 0; series < 100; series++) {
        int k = find(noise, &seed, n, begin, end, factor);

        right += k == wanted && llabs((long long)found[0].at - (long long)begin) <= 2 &&
                 (k == 1 || llabs((long long)found[1].at - (long long)end) <= 2);
    }
    return right;
}

TEST(known_changes_are_found_where_they_are)
{
    /* 3 % at 1 % noise, half of 20 and of 300 values. */
    assert_true(found_of_100(normal, 20, 10, 20, 0.97) >= 85);
    assert_true(found_of_100(normal, 300, 150, 300, 0.97) >= 90);
    assert_true(found_of_100(with_outliers, 60, 30, 60, 1.05) >= 90);
    /* The last five of fifty. */
    assert_true(found_of_100(normal, 50, 45, 50, 0.95) >= 80);
    /* What got slower and was mended. */
    assert_true(found_of_100(normal, 300, 150, 170, 0.95) >= 85);
    assert_true(found_of_100(normal, 1000, 600, 630, 0.95) >= 85);
}

/* Five against five is the least that can be told. */
TEST(change_says_what_was_before_and_after)
{
    static const double series[] = {10, 11, 10.5, 10.2, 10.8, 12, 12.5, 12.1, 12.9, 12.3};
    size_t n = sizeof(series) / sizeof(series[0]);

    assert_int_equal(change_points_find(series, n, found), 1);
    assert_int_equal(found[0].at, 5);
    assert_int_equal(found[0].n_before, 5);
    assert_int_equal(found[0].n_after, 5);
    assert_true(found[0].before == 10.5 && found[0].after == 12.3);
    assert_true(found[0].score > change_points_threshold(n));
    assert_int_equal(change_points_find(series, n - 1, found), 0);
}

/* A model computes them: no noise at all. */
TEST(equal_values_are_no_change_and_a_step_is_one)
{
    for (size_t i = 0; i < 40; i++)
        values[i] = 5.0;
    assert_int_equal(change_points_find(values, 40, found), 0);
    for (size_t i = 20; i < 40; i++)
        values[i] = 4.0;
    assert_int_equal(change_points_find(values, 40, found), 1);
    assert_int_equal(found[0].at, 20);
    assert_int_equal(change_points_find(values, 0, found), 0);
}

/* The last before the change is the lowest of them: ranks alone could as well begin
 * there. */
TEST(lowest_before_a_change_is_still_before_it)
{
    for (size_t i = 0; i < 15; i++)
        values[i] = i < 7   ? 100.0 + 0.01 * (double)(i % 3)
                    : i < 8 ? 99.9
                            : 90.0 + 0.01 * (double)(i % 4);
    assert_int_equal(change_points_find(values, 15, found), 1);
    assert_int_equal(found[0].at, 8);
}

TEST(many_changes_are_found_in_order)
{
    uint64_t seed = 3;
    size_t n = CHANGE_POINTS_VALUES_MAX;
    int k;

    for (size_t i = 0; i < n; i++)
        values[i] = (i / 50 % 2 ? 2.0 : 1.0) + normal(&seed);
    k = change_points_find(values, n, found);
    assert_in_range(k, 36, 39);
    for (int i = 1; i < k; i++)
        assert_true(found[i].at > found[i - 1].at);
    for (size_t i = 0; i < n; i++)
        values[i] = (i / 25 % 2 ? 2.0 : 1.0) + normal(&seed);
    assert_in_range(change_points_find(values, n, found), 40, CHANGE_POINTS_MAX);
}
