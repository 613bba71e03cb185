/* SPDX-License-Identifier: Apache-2.0 */
/* test_compare.c - from the values of cases to an answer and a sentence */
#include "server/analysis/compare.h"
#include "server/analysis/compare_sentence.h"
#include "tests/unit/compare_fixture.h"
#include "tests/unit/seeded_noise.h"
#include "tests/unit/test.h"

#define REDUCE "{\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\"}"
#define GATHER "{\"collective\":\"all_gather\",\"dtype\":\"float32\",\"redop\":\"none\"}"
#define RATE "{\"metric\":\"rate\",\"higher_is_better\":true}"
#define LOSS "{\"metric\":\"loss\",\"higher_is_better\":false}"

static const double quiet[] = {0.3, -0.5, 0.1, 0.4, -0.2, -0.1, 0.5, -0.4, 0.2, -0.3};

/* Cases 0 .. n - 1 are base, n .. 2n - 1 are head. */
static struct compare *compare_made(struct made *made, size_t n, bool is_paired)
{
    struct compare_lot lots[CASES_MAX];
    struct compare_sides sides = {.base = lots,
                                  .head = lots + n,
                                  .n_base = n,
                                  .n_head = n,
                                  .is_paired = is_paired,
                                  .margin = COMPARE_SAME};
    struct compare *compare;

    for (size_t i = 0; i < 2 * n; i++)
        lots[i] = (struct compare_lot){&made->values, (int)i};
    compare = compare_create(&sides, NULL);
    assert_non_null(compare);
    return compare;
}

/* One size per band; times of head are `factor` times as long, and each case is off by
 * `noise` times what stands in `quiet`, in per cent. */
static struct compare *compare_factor(struct made *made, size_t n, double factor,
                                      double noise)
{
    made_init(made);
    for (size_t i = 0; i < 2 * n; i++) {
        double us =
            (i < n ? 1 : factor) * (1 + 0.01 * noise * quiet[(i * 7 + i / n) % 10]);
        const struct case_point points[] = {
            {.size = 8, .time_us = 10 * us, .busbw_gbs = 1 / us},
            {.size = 1 << 20, .time_us = 50 * us, .busbw_gbs = 20 / us},
            {.size = 64 << 20, .time_us = 900 * us, .busbw_gbs = 70 / us},
        };

        made_add(made, (int)i, REDUCE, points, 3);
    }
    return compare_made(made, n, true);
}

static void require_sentence(const struct compare *compare, const char *wanted)
{
    const struct compare_names names = {"head", "Ring", "Tree"};
    json_t *sentence = compare_sentence(compare, &names);

    assert_string_equal(json_string_value(sentence), wanted);
    json_decref(sentence);
}

TEST(slower_head_is_worse_in_time_and_in_bandwidth)
{
    struct made made;
    struct compare *compare = compare_factor(&made, 5, 1.1, 1);

    assert_int_equal(compare->n_bands, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(compare->bands[i].answer, VERDICT_WORSE);
    assert_int_equal(compare->answer, VERDICT_WORSE);
    assert_string_equal(compare->bands[0].figure, "time_us");
    assert_near(compare->bands[0].change.change, 0.1, 0.003);
    assert_string_equal(compare->bands[2].figure, "busbw_gbs");
    assert_near(compare->bands[2].change.change, 1 / 1.1 - 1, 0.003);
    assert_near(compare->bands[2].change.base, 70, 0.3);
    require_sentence(compare,
                     "head takes 10 % more time up to 16K (9.4 to 11, 5 repeats each), "
                     "takes 10 % more time between 16K and 4M (9.4 to 11) and is 9.3 % "
                     "slower from 4M up (8.6 to 10)");
    compare_destroy(compare);
    made_release(&made);
}

/* A link of another kind, say. */
TEST(large_changes_are_told_as_factors)
{
    struct made made;
    struct compare *compare = compare_factor(&made, 5, 20, 1);

    require_sentence(
        compare, "head takes 20 times as long up to 16K (20 to 20, 5 repeats each), "
                 "takes 20 times as long between 16K and 4M (20 to 20) and is 1/20 as "
                 "fast from 4M up (1/20 to 1/20)");
    compare_destroy(compare);
    made_release(&made);
    compare = compare_factor(&made, 5, 0.05, 1);
    require_sentence(
        compare, "head takes 1/20 of the time up to 16K (1/20 to 1/20, 5 repeats "
                 "each), takes 1/20 of the time between 16K and 4M (1/20 to 1/20) and "
                 "is 20 times as fast from 4M up (20 to 20)");
    compare_destroy(compare);
    made_release(&made);
}

TEST(faster_head_is_better)
{
    struct made made;
    struct compare *compare = compare_factor(&made, 5, 0.9, 1);

    assert_int_equal(compare->answer, VERDICT_BETTER);
    assert_true(compare->bands[2].change.low > 0.095);
    compare_destroy(compare);
    made_release(&made);
}

TEST(what_lies_within_two_per_cent_is_the_same)
{
    struct made made;
    struct compare *compare = compare_factor(&made, 10, 1.005, 0.1);

    /* There is a difference, and it is too small to matter. */
    assert_true(compare->bands[0].change.p < 0.001);
    assert_int_equal(compare->answer, VERDICT_SAME);
    require_sentence(compare,
                     "no difference of 2 % or more up to 16K, between 16K and 4M "
                     "and from 4M up (10 repeats each)");
    compare_destroy(compare);
    made_release(&made);
}

TEST(noise_is_not_enough_data_and_says_how_much_would_be)
{
    struct made made;
    struct compare *compare = compare_factor(&made, 5, 1, 10);
    const struct compare_band *band = &compare->bands[0];
    json_t *why = compare_why(compare, band);

    assert_int_equal(compare->answer, VERDICT_NOT_ENOUGH_DATA);
    assert_int_equal(band->reason, COMPARE_NOISE);
    assert_in_range(band->repeats_needed, 30, 200);
    assert_non_null(strstr(json_string_value(why), "repeats would resolve 2 %"));
    json_decref(why);
    compare_destroy(compare);
    made_release(&made);
}

TEST(two_cases_are_never_a_verdict)
{
    struct made made;
    struct compare *compare = compare_factor(&made, 2, 2, 0.01);

    assert_int_equal(compare->answer, VERDICT_NOT_ENOUGH_DATA);
    assert_int_equal(compare->bands[0].reason, COMPARE_FEW);
    require_sentence(compare,
                     "head takes 100 % more time up to 16K (base has 2 and head 2 "
                     "cases, but each needs 3 or more), takes 100 % more time between "
                     "16K and 4M and is "
                     "50 % slower from 4M up: not enough data");
    compare_destroy(compare);
    made_release(&made);
    compare = compare_factor(&made, 1, 2, 0);
    assert_int_equal(compare->answer, VERDICT_NOT_ENOUGH_DATA);
    assert_true(isnan(compare->bands[0].change.low));
    assert_near(compare->bands[0].change.change, 1, 1e-9);
    compare_destroy(compare);
    made_release(&made);
}

/* Times of 8 bytes in microseconds, base's first. */
static struct compare *compare_times(struct made *made, const double *us, size_t n,
                                     bool is_paired)
{
    made_init(made);
    for (size_t i = 0; i < 2 * n; i++)
        made_add(made, (int)i, REDUCE,
                 &(struct case_point){.size = 8, .time_us = us[i], .busbw_gbs = 1}, 1);
    return compare_made(made, n, is_paired);
}

TEST(states_in_both_are_not_enough_data)
{
    const double us[] = {0.10, 0.43, 0.11, 0.45, 0.10, 0.44, 0.11, 0.46, 0.10, 0.42};
    struct made made;
    struct compare *compare = compare_times(&made, us, 5, true);
    const struct compare_band *band = &compare->bands[0];

    assert_int_equal(band->reason, COMPARE_STATES);
    assert_int_equal(band->answer, VERDICT_NOT_ENOUGH_DATA);
    assert_true(band->base_varies && band->head_varies);
    require_sentence(compare,
                     "not enough data up to 16K (the values of both fall into two "
                     "groups 4.2x apart; 5 repeats cannot show if the settings are the "
                     "cause, 8 might)");
    compare_destroy(compare);
    made_release(&made);
}

/* The states come and go with the hour: pairs see the same one. */
TEST(states_that_pairs_share_stand_in_nobodys_way)
{
    const double us[] = {0.100,  0.400,  0.101,  0.402,  0.100,
                         0.1101, 0.4402, 0.1109, 0.4421, 0.1102};
    struct made made;
    struct compare *compare = compare_times(&made, us, 5, true);

    assert_int_equal(compare->answer, VERDICT_WORSE);
    assert_near(compare->bands[0].change.change, 0.1, 0.002);
    compare_destroy(compare);
    made_release(&made);
    compare = compare_times(&made, us, 5, false);
    assert_int_equal(compare->answer, VERDICT_NOT_ENOUGH_DATA);
    assert_int_equal(compare->bands[0].reason, COMPARE_STATES);
    compare_destroy(compare);
    made_release(&made);
}

TEST(a_state_per_side_is_the_sides_doing)
{
    const double us[] = {0.100, 0.102, 0.101, 0.099, 0.100,
                         0.401, 0.402, 0.398, 0.404, 0.400};
    struct made made;
    struct compare *compare = compare_times(&made, us, 5, true);

    assert_int_equal(compare->answer, VERDICT_WORSE);
    compare_destroy(compare);
    made_release(&made);
}

TEST(one_case_of_ten_that_stands_out_costs_no_verdict)
{
    const double us[] = {10.0, 10.1, 9.9,  10.0, 10.1, 9.9,  10.0, 10.1, 9.9,  10.0,
                         10.5, 10.6, 10.4, 31.5, 10.6, 10.4, 10.5, 10.6, 10.4, 10.5};
    struct made made;
    struct compare *compare = compare_times(&made, us, 10, true);

    assert_int_equal(compare->answer, VERDICT_WORSE);
    assert_near(compare->bands[0].change.change, 0.05, 0.002);
    compare_destroy(compare);
    made_release(&made);
}

TEST(a_band_is_of_the_sizes_that_all_cases_have)
{
    const struct case_point all[] = {{.size = 8, .time_us = 10, .busbw_gbs = 1},
                                     {.size = 16, .time_us = 20, .busbw_gbs = 1},
                                     {.size = 32, .time_us = 40, .busbw_gbs = 1}};
    struct compare *compare;
    struct made made;

    made_init(&made);
    for (int i = 0; i < 6; i++) {
        if (i < 3)
            made_add(&made, i, GATHER, all, 3);
        made_add(&made, i, REDUCE, i == 4 ? all + 1 : all, i == 4 ? 2 : 3);
    }
    compare = compare_made(&made, 3, true);
    assert_int_equal(compare->n_bands, 1);
    assert_int_equal(compare->bands[0].sizes, 2);
    assert_int_equal(compare->n_sizes, 2);
    assert_int_equal(compare->sizes[0].size, 16);
    assert_int_equal(compare->sizes_left_out, 1 + 3);
    assert_near(compare->bands[0].change.base, sqrt(20.0 * 40.0), 1e-9);
    compare_destroy(compare);
    made_release(&made);
}

TEST(metrics_know_their_good_direction)
{
    struct compare *compare;
    struct made made;

    made_init(&made);
    for (int i = 0; i < 10; i++) {
        double by = 1 + 0.001 * quiet[i] + (i < 5 ? 0 : 0.1);

        made_add(&made, i, LOSS, &(struct case_point){.size = -1, .value = by - 1}, 1);
        made_add(&made, i, RATE, &(struct case_point){.size = -1, .value = 7 * by}, 1);
    }
    compare = compare_made(&made, 5, true);
    assert_int_equal(compare->n_bands, 2);
    assert_true(compare->bands[0].is_linear);
    assert_int_equal(compare->bands[0].answer, VERDICT_WORSE);
    assert_false(compare->bands[1].is_linear);
    assert_int_equal(compare->bands[1].answer, VERDICT_BETTER);
    assert_int_equal(compare->bands[1].band, BANDS);
    assert_near(compare->bands[1].change.change, 0.1, 0.002);
    assert_int_equal(compare->answer, VERDICT_WORSE);
    compare_destroy(compare);
    made_release(&made);
}

/* A metric's value for each case, base's first. */
static struct compare *compare_values(struct made *made, const char *key,
                                      const double *values, size_t n, bool is_paired)
{
    made_init(made);
    for (size_t i = 0; i < 2 * n; i++)
        made_add(made, (int)i, key, &(struct case_point){.size = -1, .value = values[i]},
                 1);
    return compare_made(made, n, is_paired);
}

TEST(of_a_mean_of_0_there_is_no_part)
{
    const double values[] = {0, 0, 0, 0, 0, 5, 6, 5, 5, 6};
    struct made made;
    struct compare *compare = compare_values(&made, LOSS, values, 5, true);
    const struct compare_band *band = &compare->bands[0];

    assert_true(band->change.p < 0.001);
    assert_int_equal(band->answer, VERDICT_NOT_ENOUGH_DATA);
    assert_int_equal(band->reason, COMPARE_NOISE);
    require_sentence(compare, "not enough data in loss (the mean is 0)");
    compare_destroy(compare);
    made_release(&made);
    compare = compare_values(&made, LOSS, values + 3, 2, true);
    assert_int_equal(compare->bands[0].reason, COMPARE_FEW);
    compare_destroy(compare);
    made_release(&made);
}

TEST(what_a_double_cant_hold_is_no_verdict)
{
    static const char far_apart[] = "the values are too far apart for an interval";
    static const struct {
        double values[6];
        const char *why;
    } cases[] = {
        {{0, 0, 0, 0, 1e160, 1e160}, "the mean is 0"},
        {{0, 0, 0, 1e-100, 0, 1e-100}, "the mean is 0"},
        {{1, -2, 3, 0, 1e160, 1e160}, far_apart},
        {{1e308, 1e308, 1e308, -1e308, -1e308, 1}, far_apart},
        {{1e-300, 1e300, 1, 1e300, 1e300, 1e-300}, far_apart},
    };

    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct made made;
        struct compare *compare =
            compare_values(&made, LOSS, cases[i / 2].values, 3, i % 2 == 0);
        char wanted[200];

        snprintf(wanted, sizeof(wanted), "not enough data in loss (%s)",
                 cases[i / 2].why);
        assert_int_equal(compare->answer, VERDICT_NOT_ENOUGH_DATA);
        require_sentence(compare, wanted);
        compare_destroy(compare);
        made_release(&made);
    }
}

/* Cases 0 and 1 with n series of a value each, in the order of their identities. */
static struct case_values many_series(size_t n)
{
    struct case_values values = {calloc(2 * n, sizeof(struct case_series)), 2 * n};

    assert_non_null(values.series);
    for (size_t i = 0; i < 2 * n; i++) {
        struct case_series *series = &values.series[i];

        *series = (struct case_series){
            .case_no = i >= n, .is_figure = true, .n_points = 1, .identity = malloc(16)};
        snprintf(series->identity, 16, "%08zu", i % n);
        series->key = json_pack("{s:s, s:{s:s}}", "metric", "loss", "labels", "step",
                                series->identity);
        series->points = malloc(sizeof(*series->points));
        *series->points = (struct case_point){.size = -1, .value = 1};
    }
    return values;
}

TEST(there_are_not_more_bands_than_can_be_compared)
{
    for (size_t n = COMPARE_BANDS_MAX; n <= COMPARE_BANDS_MAX + 1; n++) {
        struct case_values values = many_series(n);
        struct compare_lot lots[] = {{&values, 0}, {&values, 1}};
        struct compare_sides sides = {.base = lots,
                                      .head = lots + 1,
                                      .n_base = 1,
                                      .n_head = 1,
                                      .margin = COMPARE_SAME};
        struct error err = {0};
        struct compare *compare = compare_create(&sides, &err);

        assert_int_equal(compare != NULL, n == COMPARE_BANDS_MAX);
        assert_int_equal(err.code, compare ? ERROR_NONE : ERROR_INVALID);
        assert_true(compare || strstr(err.text, "more than 2000 bands"));
        compare_destroy(compare);
        for (size_t i = 0; i < values.n; i++) {
            json_decref(values.series[i].key);
            free(values.series[i].identity);
            free(values.series[i].points);
        }
        free(values.series);
    }
}

TEST(nothing_in_common_is_not_enough_data)
{
    const struct case_point point = {.size = 8, .time_us = 10, .busbw_gbs = 1};
    struct compare *compare;
    struct made made;

    made_init(&made);
    for (int i = 0; i < 6; i++)
        made_add(&made, i, i < 3 ? REDUCE : GATHER, &point, 1);
    compare = compare_made(&made, 3, false);
    assert_int_equal(compare->n_bands, 0);
    assert_int_equal(compare->answer, VERDICT_NOT_ENOUGH_DATA);
    require_sentence(compare,
                     "not enough data: there is no size or metric that all cases "
                     "of both sides have");
    compare_destroy(compare);
    made_release(&made);
}

/* ---- Base, head and change ---- */

TEST(base_head_and_change_agree_when_a_pair_is_disturbed)
{
    const double us[] = {100.1, 99.9,  100.0, 100.2, 99.8,  100.0, 99.9,  100.1,
                         100.3, 100.4, 100.1, 100.5, 100.2, 170.0, 100.3, 100.2};

    for (int is_paired = 0; is_paired < 2; is_paired++) {
        struct made made;
        struct compare *compare = compare_times(&made, us, 8, is_paired);
        const struct compare_change *change = &compare->bands[0].change;

        assert_near(change->head / change->base - 1, change->change, 1e-9);
        assert_near(change->head, 100.3, 0.15);
        compare_destroy(compare);
        made_release(&made);
    }
}

/* ---- Three regions ---- */

static enum verdict_answer answer_of(double change, size_t n, uint64_t seed)
{
    struct noise noise = {.seed = seed};
    double us[CASES_MAX];
    enum verdict_answer answer;
    struct compare *compare;
    struct made made;

    for (size_t i = 0; i < 2 * n; i++)
        us[i] = 10 * (i < n ? 1 : 1 + change) * exp(0.0035 * noise_normal(&noise));
    compare = compare_times(&made, us, n, true);
    answer = compare->answer;
    compare_destroy(compare);
    made_release(&made);
    return answer;
}

/* Differences of pairs scatter by 0.5 %. */
TEST(more_repeats_do_not_turn_worse_into_same)
{
    static const size_t repeats[] = {3, 5, 8, 10, 20, 32};

    for (size_t i = 0; i < 6; i++) {
        int worse = 0, same = 0;

        for (uint64_t k = 0; k < 200; k++) {
            worse += answer_of(0.015, repeats[i], k) == VERDICT_WORSE;
            same += answer_of(0.03, repeats[i], k) == VERDICT_SAME;
        }
        /* 1.5 % lies within the margin and 3 % beyond it: either is wrong in 1 of 40. */
        assert_in_range(worse, 0, 200 / 40);
        assert_in_range(same, 0, 200 / 40);
    }
    assert_int_equal(answer_of(0.015, 32, 1), VERDICT_SAME);
    assert_int_equal(answer_of(0.03, 32, 1), VERDICT_WORSE);
}

TEST(the_margin_is_the_users)
{
    struct made made;
    struct compare *first = compare_factor(&made, 10, 1.03, 0.1), *again;
    struct compare_lot lots[20];
    struct compare_sides sides = {.base = lots,
                                  .head = lots + 10,
                                  .n_base = 10,
                                  .n_head = 10,
                                  .is_paired = true,
                                  .margin = 0.05};

    for (int i = 0; i < 20; i++)
        lots[i] = (struct compare_lot){&made.values, i};
    again = compare_create(&sides, NULL);
    assert_int_equal(first->answer, VERDICT_WORSE);
    assert_int_equal(again->answer, VERDICT_SAME);
    require_sentence(again, "no difference of 5 % or more up to 16K, between 16K and 4M "
                            "and from 4M up (10 repeats each)");
    compare_destroy(first);
    compare_destroy(again);
    made_release(&made);
}

/* ---- Mixed ---- */

/* From 4M to 1G each size has its own change of the time, in per cent. */
static struct compare *compare_changes(struct made *made, const double *percent, size_t n)
{
    made_init(made);
    for (size_t i = 0; i < 16; i++) {
        struct case_point points[9];

        for (size_t k = 0; k < n; k++) {
            double us = (i < 8 ? 1 : 1 / (1 + percent[k] / 100)) *
                        (1 + 0.002 * quiet[(i * 7 + k * 3) % 10]);

            points[k] = (struct case_point){
                .size = INT64_C(4 << 20) << k, .time_us = us, .busbw_gbs = 50 / us};
        }
        made_add(made, (int)i, REDUCE, points, n);
    }
    return compare_made(made, 8, true);
}

TEST(a_band_that_crosses_is_mixed_and_names_the_crossing)
{
    static const double percent[] = {65, 35, 18, 7, 2.5, 0.7, -3.8, -7.3, -8.4};
    struct made made;
    struct compare *compare = compare_changes(&made, percent, 9);

    assert_int_equal(compare->answer, VERDICT_MIXED);
    assert_int_equal(compare->bands[0].n_stretches, 2);
    assert_int_equal(compare->bands[0].stretches[1].from, 256 << 20);
    require_sentence(compare, "from 4M up Tree is faster up to 64M (2 to 65 %), Ring "
                              "from 256M (4 to 9 %)");
    compare_destroy(compare);
    made_release(&made);
}

/* Nothing differs, and each size of each case is off by its own 2 %. */
TEST(noise_of_single_sizes_is_not_mixed)
{
    size_t trials = test_seeds(400), mixed = 0;
    struct noise noise = {.seed = 17};

    for (size_t trial = 0; trial < trials; trial++) {
        struct made made;
        struct compare *compare;

        made_init(&made);
        for (int i = 0; i < 16; i++) {
            struct case_point points[9];

            for (size_t k = 0; k < 9; k++) {
                double us = exp(0.02 * noise_normal(&noise));

                points[k] = (struct case_point){
                    .size = INT64_C(4 << 20) << k, .time_us = us, .busbw_gbs = 50 / us};
            }
            made_add(&made, i, REDUCE, points, 9);
        }
        compare = compare_made(&made, 8, true);
        mixed += compare->answer == VERDICT_MIXED;
        compare_destroy(compare);
        made_release(&made);
    }
    assert_true(mixed <= 1 + trials / 100);
}

/* Base takes half the time of head at some sizes, head half of base's at others. */
TEST(both_sides_of_a_crossing_are_measured_alike)
{
    static const double percent[] = {100, 100, 100, 100, -50, -50, -50, -50};
    struct made made;
    struct compare *compare = compare_changes(&made, percent, 8);
    const struct compare_band *band = &compare->bands[0];

    assert_int_equal(band->n_stretches, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(fabs(band->stretches[i].least - 1) < 0.01);
        assert_true(fabs(band->stretches[i].most - 1) < 0.01);
    }
    compare_destroy(compare);
    made_release(&made);
}

#define IN_PLACE                                                                         \
    "{\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"in_place\":true,"            \
    "\"redop\":\"sum\"}"

/* Head is twice as fast out of place and half as fast in place, at every size. */
TEST(rows_of_a_size_that_contradict_each_other_have_no_crossing)
{
    struct made made;
    struct compare *compare;

    made_init(&made);
    for (int i = 0; i < 16; i++)
        for (int in_place = 1; in_place >= 0; in_place--) {
            double us = i < 8 ? 1 : in_place ? 2 : 0.5;
            struct case_point points[9];

            for (size_t k = 0; k < 9; k++)
                points[k] = (struct case_point){
                    .size = INT64_C(4 << 20) << k, .time_us = us, .busbw_gbs = 50 / us};
            made_add(&made, i, in_place ? IN_PLACE : REDUCE, points, 9);
        }
    compare = compare_made(&made, 8, true);
    assert_int_equal(compare->n_bands, 1);
    assert_int_equal(compare->answer, VERDICT_MIXED);
    assert_int_equal(compare->bands[0].n_stretches, 0);
    require_sentence(compare, "from 4M up Tree is faster in some rows, Ring in others");
    compare_destroy(compare);
    made_release(&made);
}

TEST(sizes_that_differ_in_one_direction_are_not_mixed)
{
    static const double percent[] = {9, 8, 7, 6, 5, 4, 3.5, 3.5, 3.5};
    static const double small[] = {9, 8, 7, 6, 5, 4, 0.5, -0.5, -1};
    struct made made;
    struct compare *compare = compare_changes(&made, percent, 9);

    assert_int_equal(compare->answer, VERDICT_BETTER);
    assert_int_equal(compare->bands[0].n_stretches, 0);
    compare_destroy(compare);
    made_release(&made);
    compare = compare_changes(&made, small, 9);
    assert_int_equal(compare->answer, VERDICT_BETTER);
    compare_destroy(compare);
    made_release(&made);
}

/* ---- By run ---- */

/* A run of three cases with a size of 64M; busbw in GB/s. */
static void made_run(struct made *run, double gbs)
{
    made_init(run);
    for (int i = 0; i < 3; i++)
        made_add(run, i, REDUCE,
                 &(struct case_point){.size = 64 << 20,
                                      .time_us = 1,
                                      .busbw_gbs = gbs * (1 + 0.01 * quiet[i])},
                 1);
}

#define RUNS_MAX 24

/* Runs by their bandwidth: base's, head's, then the history's. */
static struct compare *compare_runs_of(struct made *runs, const double *gbs, size_t base,
                                       size_t head, size_t before, size_t since)
{
    struct compare_lot lots[3 * RUNS_MAX];
    size_t n = base + head + before + since;
    struct compare_sides sides = {.base = lots,
                                  .head = lots + 3 * base,
                                  .n_base = 3 * base,
                                  .n_head = 3 * head,
                                  .by_run = true,
                                  .margin = COMPARE_SAME,
                                  .history = lots + 3 * (base + head),
                                  .n_history = 3 * (before + since),
                                  .n_before = 3 * before};
    struct compare *compare;

    for (size_t i = 0; i < n; i++) {
        made_run(&runs[i], gbs[i]);
        for (size_t k = 0; k < 3; k++)
            lots[3 * i + k] = (struct compare_lot){&runs[i].values, (int)k};
    }
    compare = compare_create(&sides, NULL);
    assert_non_null(compare);
    return compare;
}

static void release_runs(struct compare *compare, struct made *runs, size_t n)
{
    compare_destroy(compare);
    for (size_t i = 0; i < n; i++)
        made_release(&runs[i]);
}

static struct made made_runs[RUNS_MAX];

TEST(a_run_within_the_usual_range_of_others_is_the_same)
{
    static const double gbs[] = {45.6, 46.3, 46.9, 46.0, 45.2, 44.6};
    struct compare *compare = compare_runs_of(made_runs, gbs, 5, 1, 0, 0);

    assert_int_equal(compare->answer, VERDICT_SAME);
    assert_int_equal(compare->base_runs, 5);
    assert_near(compare->bands[0].usual, 0.0736, 0.002);
    require_sentence(compare, "head is within the usual range from 4M up (\xC2\xB1"
                              "7.4 %, 1 run against 5)");
    release_runs(compare, made_runs, 6);
}

TEST(a_run_beyond_the_usual_range_is_worse)
{
    static const double gbs[] = {45.6, 46.3, 46.9, 46.0, 45.2, 40.0};
    static const double close[] = {46.00, 46.01, 46.02, 46.00, 46.01, 45.5};
    struct compare *compare = compare_runs_of(made_runs, gbs, 5, 1, 0, 0);

    assert_int_equal(compare->answer, VERDICT_WORSE);
    release_runs(compare, made_runs, 6);
    /* Certain, and too small to matter. */
    compare = compare_runs_of(made_runs, close, 5, 1, 0, 0);
    assert_true(compare->bands[0].change.high < 0);
    assert_int_equal(compare->answer, VERDICT_SAME);
    release_runs(compare, made_runs, 6);
}

/* However many cases they have. */
TEST(one_run_against_one_is_an_estimate)
{
    static const double gbs[] = {46, 23}, equal[] = {46, 46.02};
    struct compare *compare = compare_runs_of(made_runs, gbs, 1, 1, 0, 0);

    assert_int_equal(compare->answer, VERDICT_NOT_ENOUGH_DATA);
    assert_int_equal(compare->bands[0].reason, COMPARE_RUNS);
    assert_int_equal(compare->bands[0].runs_needed, 4);
    require_sentence(compare, "head is 50 % slower from 4M up (needs 4 more runs like "
                              "base to estimate their scatter): not enough data");
    release_runs(compare, made_runs, 2);
    compare = compare_runs_of(made_runs, equal, 1, 1, 0, 0);
    require_sentence(compare, "head is as fast from 4M up (needs 4 more runs like base "
                              "to estimate their scatter): not enough data");
    release_runs(compare, made_runs, 2);
}

TEST(history_says_how_one_accepted_run_scatters)
{
    static const double gbs[] = {46, 41, 45.6, 46.3, 46.9, 46.0, 45.2};
    /* Base was accepted after a step: those before it are at another level. */
    static const double step[] = {36, 32, 45.6, 46.3, 46.9, 46.0, 45.2, 36.2, 35.9};
    struct compare *compare = compare_runs_of(made_runs, gbs, 1, 1, 5, 0);

    assert_int_equal(compare->answer, VERDICT_WORSE);
    assert_int_equal(compare->history, 5);
    require_sentence(compare,
                     "head is 11 % slower from 4M up (2.3 to 19, 1 run against 1, "
                     "with the scatter of 5 more)");
    release_runs(compare, made_runs, 7);
    compare = compare_runs_of(made_runs, step, 1, 1, 5, 2);
    assert_int_equal(compare->answer, VERDICT_WORSE);
    assert_near(compare->bands[0].change.base, 36, 0.2);
    release_runs(compare, made_runs, 9);
}

/* Base, head, then seven runs before base and five since, each newest first. */
TEST(a_lasting_change_in_the_history_is_no_scatter)
{
    static const double slower[] = {46.1, 41.4, 45.6, 46.3, 46.2, 46.0, 45.7,
                                    46.4, 45.9, 41.6, 41.2, 41.5, 41.3, 41.7};
    static const double noisy[] = {46.1, 41.4, 45.6, 46.3, 46.2, 46.0, 45.7,
                                   46.4, 45.9, 46.0, 41.2, 46.3, 41.3, 45.8};
    struct compare *compare = compare_runs_of(made_runs, slower, 1, 1, 7, 5);

    assert_int_equal(compare->answer, VERDICT_WORSE);
    assert_in_range((int)(100 * compare->bands[0].usual), 1, 4);
    release_runs(compare, made_runs, 14);
    compare = compare_runs_of(made_runs, noisy, 1, 1, 7, 5);
    assert_int_equal(compare->answer, VERDICT_SAME);
    release_runs(compare, made_runs, 14);
}

/* Runs a factor of ten apart are no reason to pass one that is five times slower. */
TEST(a_range_beyond_a_factor_of_ten_says_nothing)
{
    static const double wide[] = {46, 23, 46, 30, 20, 27};
    static const double known[] = {46, 36, 46, 40, 34, 38};
    struct compare *compare = compare_runs_of(made_runs, wide, 5, 1, 0, 0);

    /* A factor of less than ten either way, and more from end to end. */
    assert_in_range((int)(100 * compare->bands[0].usual), 217, 899);
    assert_int_equal(compare->answer, VERDICT_NOT_ENOUGH_DATA);
    assert_int_equal(compare->bands[0].reason, COMPARE_NOISE);
    release_runs(compare, made_runs, 6);
    compare = compare_runs_of(made_runs, known, 5, 1, 0, 0);
    assert_int_equal(compare->answer, VERDICT_SAME);
    release_runs(compare, made_runs, 6);
}
