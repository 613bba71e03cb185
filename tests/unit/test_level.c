/* SPDX-License-Identifier: Apache-2.0 */
/* test_level.c - a new run beside runs like it: how often it is called unusual when
 * nothing changed, and when something did
 *
 * Everything is a function of fixed seeds; bench/gate_power.c prints more of the same. */
#include "tests/unit/compare_fixture.h"
#include "tests/unit/seeded_noise.h"
#include "tests/unit/test.h"

#include "common/base/json_util.h"
#include "server/analysis/compare.h"
#include "server/analysis/level.h"
#include "server/analysis/run_values.h"
#include "tests/unit/gate_trial.h"

#define TRIALS 3000

/* Of a run with that effect: `cases` cases that scatter by `within`. */
static double made_level(struct noise *noise, double effect, double within, size_t cases)
{
    double values[32];

    for (size_t i = 0; i < cases; i++)
        values[i] = effect + within * noise_normal(noise);
    return level_of(values, cases);
}

struct trial {
    double between, within;
    size_t cases, runs;
    double step; /* of the new run, below 0: it is slower */
};

/* In how many of TRIALS the new run is outside the range, and in how many below it. */
static void count_unusual(const struct trial *trial, uint64_t seed, int *outside,
                          int *below)
{
    struct noise noise = {.seed = seed};

    *outside = *below = 0;
    for (int i = 0; i < TRIALS; i++) {
        double before[32], now, low, high;
        struct level_group base = {before, trial->runs}, head = {&now, 1};
        struct level_scatter scatter;
        struct stats_effect effect;

        for (size_t k = 0; k < trial->runs; k++)
            before[k] = made_level(&noise, trial->between * noise_normal(&noise),
                                   trial->within, trial->cases);
        now = made_level(&noise, trial->step + trial->between * noise_normal(&noise),
                         trial->within, trial->cases);
        scatter = level_scatter(&base, 1);
        level_effect(&base, &head, &scatter, &effect);
        stats_interval(&effect, level_confidence(1), &low, &high);
        *outside += low > 0 || high < 0;
        *below += high < 0;
    }
}

TEST(a_run_that_did_not_change_is_unusual_once_in_a_hundred)
{
    static const double between[] = {0, 0.005, 0.01, 0.02};
    static const size_t runs[] = {5, 10, 20};

    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 3; k++) {
            struct trial trial = {between[i], 0.01, 5, runs[k], 0};
            int outside, below;

            count_unusual(&trial, 1 + i * 10 + k, &outside, &below);
            if (outside < TRIALS / 200 || outside > TRIALS / 66)
                fail_msg("%g between runs, %zu runs: %d of %d are outside", between[i],
                         runs[k], outside, TRIALS);
        }
    }
}

TEST(a_run_that_is_a_tenth_slower_is_found_among_ten)
{
    struct trial trial = {0.01, 0.003, 5, 10, -0.10};
    int outside, below;

    count_unusual(&trial, 7, &outside, &below);
    assert_in_range(below, TRIALS * 99 / 100, TRIALS);
    trial.step = -0.03;
    count_unusual(&trial, 8, &outside, &below);
    assert_in_range(below, TRIALS * 25 / 100, TRIALS * 50 / 100);
}

TEST(a_level_is_the_median_of_its_cases)
{
    double cases[] = {5, 1, 3, 2};

    assert_near(level_of(cases, 4), 2.5, 1e-12);
    assert_near(level_of(cases, 1), 1, 1e-12);
}

/* Trends, charts and lasting changes take a run's stored value, gates and comparisons its
 * cases: both are at the same level, also between two middle cases. */
TEST(a_trend_has_the_level_of_a_gate)
{
    static const double times[] = {10, 40, 11, 39};
    static const char key[] = "{\"collective\":\"all_reduce\",\"dtype\":\"float32\"}";
    json_t *run = json_pack("{s:s, s:[]}", "state", "completed", "cases"), *out;
    struct compare_lot lots[8];
    struct compare_sides sides = {.base = lots,
                                  .head = lots + 4,
                                  .n_base = 4,
                                  .n_head = 4,
                                  .by_run = true,
                                  .margin = COMPARE_SAME};
    struct made base, head;
    struct compare *compare;
    struct error err;
    const json_t *value;

    made_init(&base);
    made_init(&head);
    for (int i = 0; i < 4; i++) {
        const struct case_point point = {.size = 8, .time_us = times[i]};

        made_add(&base, i, key, &point, 1);
        made_add(&head, i, key, &point, 1);
        lots[i] = (struct compare_lot){&base.values, i};
        lots[4 + i] = (struct compare_lot){&head.values, i};
        json_array_append_new(
            json_object_get(run, "cases"),
            json_pack("{s:s, s:i}", "state", "completed", "attempt", 1));
    }
    out = run_values_json(run, &base.values);
    value = json_array_get(json_object_get(out, "values"), 0);
    compare = compare_create(&sides, &err);
    assert_non_null(compare);
    assert_near(json_get_num(value, "value", 0), sqrt(11 * 39), 1e-12);
    assert_near(compare->bands[0].change.base, sqrt(11 * 39), 1e-12);
    assert_near(json_get_num(value, "least", 0), 10, 1e-12);
    assert_near(json_get_num(value, "most", 0), 40, 1e-12);
    compare_destroy(compare);
    json_decref(out);
    json_decref(run);
    made_release(&base);
    made_release(&head);
}

TEST(scatter_is_within_groups_and_not_between_them)
{
    double first[] = {1, 3}, second[] = {101, 103, 105}, alone = 500;
    struct level_group groups[] = {{first, 2}, {second, 3}, {&alone, 1}, {NULL, 0}};
    struct level_scatter scatter = level_scatter(groups, 4);

    assert_int_equal(scatter.df, 3);
    assert_near(scatter.deviation, sqrt((2.0 + 8.0) / 3), 1e-12);
    assert_int_equal(level_runs_missing(&scatter), 1);
    scatter = level_scatter(groups, 0);
    assert_int_equal(scatter.df, 0);
    assert_int_equal(level_runs_missing(&scatter), LEVEL_RUNS_MIN - 1);
}

/* Hahn and Meeker's form: mean +- t s sqrt(1 + 1/n). */
TEST(one_run_against_several_is_a_prediction_interval)
{
    double before[] = {1, 2, 3, 4, 5}, now = 10, low, high;
    struct level_group base = {before, 5}, head = {&now, 1};
    struct level_scatter scatter = level_scatter(&base, 1);
    struct stats_effect effect;
    double half = 4.604094871349993 * sqrt(2.5) * sqrt(1.2); /* t of 4, two-sided 99 % */

    level_effect(&base, &head, &scatter, &effect);
    stats_interval(&effect, 0.99, &low, &high);
    assert_near(effect.estimate, 7, 1e-12);
    assert_near(low, 7 - half, 1e-9);
    assert_near(high, 7 + half, 1e-9);
}

TEST(without_scatter_there_is_an_estimate_and_no_interval)
{
    double before = 2, now = 3;
    struct level_group base = {&before, 1}, head = {&now, 1};
    struct level_scatter none = level_scatter(&base, 1);
    struct stats_effect effect;

    level_effect(&base, &head, &none, &effect);
    assert_near(effect.estimate, 1, 1e-12);
    assert_true(isnan(effect.low) && isnan(effect.high) && isnan(effect.p));
}

TEST(several_bands_share_one_level_of_error)
{
    assert_near(level_confidence(1), 0.99, 1e-12);
    assert_near(level_confidence(4), 0.9975, 1e-12);
}

/* ---- Whole gates of three bands, decided as the server does ---- */

TEST(a_gate_seldom_fails_in_vain)
{
    static const double between[] = {0, 0.005, 0.01, 0.02};
    static const size_t runs[] = {5, 10, 20};

    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 3; k++) {
            struct gate_trial trial = {between[i], 0.0027, runs[k], 0, true};
            int once, twice;

            gate_trial_count(&trial, 40 + i * 10 + k, 400, &once, &twice);
            assert_in_range(once, 0, 7);
            assert_in_range(twice, 0, 5);
        }
    }
}

TEST(a_gate_finds_what_its_window_can_tell)
{
    struct gate_trial trial = {0.01, 0.0027, 10, 0.10, true};
    int once, twice;

    gate_trial_count(&trial, 90, 400, &once, &twice);
    assert_in_range(twice, 380, 400);
    trial.step = 0.05;
    trial.between = 0.005;
    gate_trial_count(&trial, 91, 400, &once, &twice);
    assert_in_range(twice, 380, 400);
}
