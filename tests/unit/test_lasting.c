/* SPDX-License-Identifier: Apache-2.0 */
/* test_lasting.c - changes that stay are found soon and dated right; where nothing
 * changes, nothing is found. bench/judge_levels.c prints the whole table. */
#include "server/analysis/lasting.h"
#include "server/analysis/compare.h"
#include "tests/unit/level_noise.h"
#include "tests/unit/test.h"

#define SERIES 200
#define NIGHTS 30
#define YEAR 365
#define K_MAX 20

static struct noise noise = {.seed = 11};
static double levels[K_MAX + YEAR];

static bool lasts(size_t k, size_t n, struct level_split *split)
{
    return lasting_find(levels, k + n, k, log1p(COMPARE_SAME), split);
}

/* Nights until the first report of a step and a drift, or 0: none in 30. */
static size_t nights_until_found(size_t k, double deviation, double step, double drift,
                                 struct level_split *split)
{
    level_noise(&noise, levels, k + NIGHTS, deviation, 0.0);
    for (size_t n = 0; n < NIGHTS; n++)
        levels[k + n] += log1p(-step - drift * (double)(n + 1));
    for (size_t n = 1; n <= NIGHTS; n++)
        if (lasts(k, n, split))
            return n;
    return 0;
}

static size_t found_of(size_t series, size_t k, double deviation, double step,
                       double drift)
{
    struct level_split split;
    size_t found = 0;

    for (size_t i = 0; i < series; i++)
        found += nights_until_found(k, deviation, step, drift, &split) > 0;
    return found;
}

TEST(small_step_and_slow_drift_are_found_within_thirty_nights)
{
    static const size_t references[] = {5, 10, 20};
    size_t series = test_seeds(SERIES);

    for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
        assert_true(found_of(series, references[i], 0.01, 0.03, 0.0) * 10 >= series * 9);
        assert_true(found_of(series, references[i], 0.01, 0.0, 0.002) * 10 >= series * 9);
        assert_true(found_of(series, references[i], 0.0, 0.0, 0.002) * 10 >= series * 9);
        assert_true(found_of(series, references[i], 0.02, 0.10, 0.0) * 10 >= series * 9);
    }
}

static double reports_a_year(size_t k, double deviation, double correlation)
{
    size_t series = test_seeds(60), reports = 0;
    struct level_split split;

    for (size_t i = 0; i < series; i++) {
        bool was = false;

        level_noise(&noise, levels, k + YEAR, deviation, correlation);
        for (size_t n = 1; n <= YEAR; n++) {
            bool is = lasts(k, n, &split);

            reports += is && !was;
            was = is;
        }
    }
    return (double)reports / (double)series;
}

TEST(series_in_which_nothing_changes_is_reported_less_than_once_a_year)
{
    assert_true(reports_a_year(5, 0.0, 0.0) == 0.0);
    assert_true(reports_a_year(5, 0.01, 0.0) <= 0.4);
    assert_true(reports_a_year(20, 0.01, 0.0) <= 0.4);
    assert_true(reports_a_year(10, 0.02, 0.0) <= 1.0);
    assert_true(reports_a_year(10, 0.01, 0.4) <= 1.0);
}

/* Two or three nights more are needed to be sure of it; then the date is the right one in
 * most series, and the range of dates holds it in nearly all. */
TEST(change_is_dated_and_sized_by_the_values)
{
    size_t series = test_seeds(SERIES), exact = 0, inside = 0, covered = 0, found = 0;
    struct level_split split;

    for (size_t i = 0; i < series; i++) {
        level_noise(&noise, levels, 10 + NIGHTS, 0.01, 0.0);
        for (size_t n = 8; n < NIGHTS; n++)
            levels[10 + n] += log(0.95);
        if (!lasts(10, NIGHTS, &split))
            continue;
        found++;
        exact += split.at == 18;
        inside += split.earliest <= 18 && split.latest >= 18;
        covered += split.low <= log(0.95) && split.high >= log(0.95);
    }
    assert_int_equal(found, series);
    assert_true(exact * 10 >= series * 9);
    assert_true(inside * 100 >= series * 97);
    assert_true(covered * 100 >= series * 90);
}

TEST(change_within_the_margin_counts_as_none)
{
    struct level_split split;

    for (size_t i = 0; i < 40; i++)
        levels[i] = i < 10 ? 0.0 : log(0.985);
    assert_false(lasts(10, 30, &split));
    assert_true(lasting_find(levels, 40, 10, 0.01, &split));
    assert_int_equal(split.at, 10);
    assert_true(fabs(split.change - log(0.985)) < 1e-9);
}

/* One bad night is the range's to judge, and does not hide a change after it. */
TEST(one_outlier_neither_lasts_nor_hides_what_does)
{
    struct level_split split;

    level_noise(&noise, levels, 40, 0.005, 0.0);
    levels[20] += log(0.5);
    assert_false(lasts(10, 30, &split));
    for (size_t i = 25; i < 40; i++)
        levels[i] += log(0.96);
    assert_true(lasts(10, 30, &split));
    assert_in_range(split.at, 24, 26);
}

TEST(too_few_levels_give_no_answer)
{
    struct level_split split;

    for (size_t i = 0; i < 10; i++)
        levels[i] = i < 5 ? 0.0 : -1.0;
    assert_true(lasts(5, 3, &split));
    assert_false(lasts(5, 2, &split));
    assert_false(lasts(4, 6, &split));
    assert_false(lasts(5, 0, &split));
}
