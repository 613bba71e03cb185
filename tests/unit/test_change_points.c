/* SPDX-License-Identifier: Apache-2.0 */
/* test_change_points.c - changes that are there are found, dated and sized; where nothing
 * changes, nothing is found. bench/judge_levels.c prints the whole table. */
#include "server/analysis/change_points.h"
#include "server/analysis/compare.h"
#include "tests/unit/level_noise.h"
#include "tests/unit/test.h"

#define RUNS_MAX 1000

static struct noise noise;
static double levels[RUNS_MAX];
static struct change_point found[CHANGE_POINTS_MAX];
static double p;

/* Each test has the same noise, however many series the tests before it drew. */
static int restart_noise(void **state)
{
    (void)state;
    noise = (struct noise){.seed = 5};
    return 0;
}

EACH_FIXTURE(restart_noise, NULL);

/* Levels around 0 with 1 % between runs; those from begin to end have the factor. */
static int find(size_t n, size_t begin, size_t end, double factor)
{
    level_noise(&noise, levels, n, 0.01, 0.0);
    for (size_t i = begin; i < end; i++)
        levels[i] += log(factor);
    return change_points_find(levels, n, log1p(COMPARE_SAME), found, &p);
}

TEST(change_of_last_night_is_found_last_night)
{
    static const size_t lengths[] = {8, 10, 20, 50, 300, 1000};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        size_t n = lengths[i];

        assert_int_equal(find(n, n - 1, n, 0.5), 1);
        assert_int_equal(found[0].split.at, n - 1);
        assert_int_equal(found[0].n_after, 1);
        assert_true(fabs(found[0].split.change - log(0.5)) < 0.05);
        assert_true(p <= CHANGE_POINTS_LEVEL);
    }
}

static double false_share(size_t n, double correlation, double margin, size_t series)
{
    size_t wrong = 0;

    for (size_t i = 0; i < series; i++) {
        level_noise(&noise, levels, n, 0.01, correlation);
        wrong += change_points_find(levels, n, margin, found, &p) > 0;
    }
    return (double)wrong / (double)series;
}

/* 1 % and 2 % are the goals; the bounds leave room for the chance of so many series. */
TEST(nothing_is_found_where_nothing_changed)
{
    static const size_t lengths[] = {10, 30, 100};
    size_t series = 400;
    double with_correlation = 0.0, with_margin = 0.0;

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        assert_true(false_share(lengths[i], 0.0, 0.0, series) <= 0.015);
        with_correlation += false_share(lengths[i], 0.4, 0.0, series) / 3.0;
        with_margin += false_share(lengths[i], 0.4, log1p(COMPARE_SAME), series) / 3.0;
    }
    assert_true(with_correlation <= 0.025);
    assert_true(with_margin <= 0.015);
}

static void assert_found(size_t n, size_t begin, double factor, size_t least_found,
                         size_t least_exact)
{
    size_t series = 100, hits = 0, exact = 0;

    for (size_t i = 0; i < series; i++) {
        if (find(n, begin, n, factor) != 1)
            continue;
        hits++;
        exact += found[0].split.at == begin;
        assert_true(found[0].split.earliest <= found[0].split.at);
        assert_true(found[0].split.latest >= found[0].split.at);
    }
    if (hits * 100 < least_found * series || exact * 100 < least_exact * hits)
        fail_msg("%zu runs, %.2f from %zu on: %zu found, %zu at its place, of %zu", n,
                 factor, begin, hits, exact, series);
}

TEST(small_changes_are_found_and_dated)
{
    assert_found(20, 18, 0.95, 80, 90);
    assert_found(30, 20, 0.97, 80, 75);
    assert_found(100, 95, 0.97, 85, 70);
    assert_found(300, 150, 0.97, 98, 70);
}

/* 46 healthy runs, then 4 slow ones: the 46th is not the first of the slow. */
TEST(healthy_run_is_not_counted_as_slow)
{
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(find(50, 46, 50, 0.5), 1);
        assert_int_equal(found[0].split.at, 46);
        assert_int_equal(found[0].split.earliest, 46);
        assert_int_equal(found[0].split.latest, 46);
        assert_int_equal(found[0].n_before, 46);
        assert_int_equal(found[0].n_after, 4);
        assert_true(fabs(found[0].after - found[0].before - log(0.5)) < 0.05);
    }
}

TEST(what_got_slower_and_recovered_is_two_changes)
{
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(find(300, 150, 170, 0.95), 2);
        assert_in_range(found[0].split.at, 149, 151);
        assert_in_range(found[1].split.at, 169, 171);
        assert_true(found[0].split.change < 0 && found[1].split.change > 0);
    }
}

/* If the bad run is the last but one, a last run that is low by chance makes it look like
 * a change: in 4 % of series, for one night. */
TEST(one_bad_run_in_the_past_is_no_change)
{
    size_t in_the_past = 0, last_but_one = 0;

    for (int i = 0; i < 400; i++) {
        in_the_past += find(50, 30, 31, 0.5) != 0;
        last_but_one += find(50, 48, 49, 0.5) != 0;
    }
    assert_in_range(in_the_past, 0, 6);
    assert_in_range(last_but_one, 0, 28);
}

TEST(change_within_the_margin_is_none)
{
    for (size_t i = 0; i < 40; i++)
        levels[i] = i < 20 ? 1.0 : 1.0 + log(0.99);
    assert_int_equal(change_points_find(levels, 40, log1p(COMPARE_SAME), found, &p), 0);
    assert_true(p == 1.0);
    assert_int_equal(change_points_find(levels, 40, 0.005, found, &p), 1);
    assert_int_equal(found[0].split.at, 20);
}

TEST(too_few_and_equal_levels_have_no_change)
{
    static const double few[] = {0.0, 0.0, 0.0, 0.0, -1.0};

    assert_int_equal(change_points_find(few, 5, 0.02, found, &p), 0);
    assert_int_equal(change_points_find(few, 0, 0.02, found, &p), 0);
    for (size_t i = 0; i < 40; i++)
        levels[i] = 5.0;
    assert_int_equal(change_points_find(levels, 40, 0.02, found, &p), 0);
}

TEST(many_changes_are_found_in_order)
{
    size_t n = RUNS_MAX;
    int k;

    level_noise(&noise, levels, n, 0.01, 0.0);
    for (size_t i = 0; i < n; i++)
        levels[i] += i / 50 % 2 ? log(2.0) : 0.0;
    k = change_points_find(levels, n, log1p(COMPARE_SAME), found, &p);
    assert_int_equal(k, 19);
    for (int i = 0; i < k; i++)
        assert_int_equal(found[i].split.at, (size_t)(i + 1) * 50);
    for (size_t i = 0; i < n; i++)
        levels[i] += i / 5 % 2 ? log(2.0) : 0.0;
    assert_int_equal(change_points_find(levels, n, log1p(COMPARE_SAME), found, &p),
                     CHANGE_POINTS_MAX);
    assert_int_equal(found[CHANGE_POINTS_MAX - 1].split.at, n - 5);
}
