/* SPDX-License-Identifier: Apache-2.0 */
/* test_trend.c - what a page of trends says of its series */
#include "server/analysis/trend.h"
#include "common/base/json_util.h"
#include "server/analysis/change_points.h"
#include "tests/unit/level_noise.h"
#include "tests/unit/test.h"

static const struct trend_figure bandwidth = {"all_reduce", "float32", false,
                                              BAND_BANDWIDTH};
static struct noise noise = {.seed = 3};

/* An answer of the store: newest first, and a point for each series. */
static json_t *page_create(void)
{
    return json_pack("{s:[], s:[], s:{s:s, s:s}}", "points", "window", "texts", "0",
                     "{\"nccl\":\"2.26.2\"}", "1", "{\"nccl\":\"2.27.3\"}");
}

/* n runs of a series around 46 GB/s with 1 % between runs; from `begin` on they have the
 * factor, from `upgrade` on the newer NCCL. */
static void add_series(json_t *page, int series, size_t n, size_t begin, double factor,
                       size_t upgrade)
{
    json_t *window = json_object_get(page, "window");
    double *levels = calloc(n, sizeof(*levels));
    char run[24];

    level_noise(&noise, levels, n, 0.01, 0.0);
    for (size_t i = n; i-- > 0;) {
        snprintf(run, sizeof(run), "s%d-r%zu", series, i);
        json_array_append_new(
            window, json_pack("[i, f, s, I, i]", series,
                              46.0 * exp(levels[i]) * (i >= begin ? factor : 1.0), run,
                              (json_int_t)i * 86400000, i >= upgrade));
        if (i + 1 == n || i == begin)
            json_array_append_new(json_object_get(page, "points"),
                                  json_pack("{s:s, s:i}", "run", run, "series", series));
    }
    free(levels);
}

static json_t *verdicts_of(json_t *page)
{
    json_t *out = trend_verdicts(page, &bandwidth, 0.02, 1);

    assert_non_null(out);
    return out;
}

/* Member `name` of the item, its verdict or its evidence. */
static const json_t *member(const json_t *item, const char *name)
{
    const json_t *verdict = json_object_get(item, "verdict");
    const json_t *places[] = {item, verdict, json_object_get(verdict, "evidence")};

    for (size_t i = 0; i < 3; i++)
        if (json_object_get(places[i], name))
            return json_object_get(places[i], name);
    return NULL;
}

static const char *text_of(const json_t *item, const char *name)
{
    return json_string_value(member(item, name));
}

TEST(halved_bandwidth_of_last_night_is_worse_tonight)
{
    json_t *page = page_create(), *verdicts, *item;

    add_series(page, 1, 12, 11, 0.5, 99);
    verdicts = verdicts_of(page);
    assert_int_equal(json_array_size(verdicts), 1);
    item = json_array_get(verdicts, 0);
    assert_string_equal(text_of(item, "answer"), "worse");
    assert_string_equal(text_of(item, "run"), "s1-r11");
    assert_string_equal(
        text_of(json_object_get(member(item, "verdict"), "evidence"), "run"), "s1-r11");
    assert_null(strstr(text_of(item, "sentence"), "s1-r"));
    assert_non_null(strstr(text_of(item, "sentence"), " UTC (all_reduce"));
    assert_true(json_number_value(json_object_get(item, "p")) < 1e-6);
    assert_true(fabs(json_number_value(json_object_get(item, "change")) + 0.5) < 0.03);
    item = json_array_get(json_object_get(page, "points"), 0);
    assert_true(json_is_real(json_object_get(item, "change")));
    json_decref(verdicts);
    json_decref(page);
}

/* The upgrade came one run after the change: it is not to blame. */
TEST(versions_are_named_only_where_the_change_can_have_come)
{
    static const struct {
        size_t upgrade;
        bool is_named;
    } cases[] = {{45, false}, {46, true}, {47, false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *page = page_create(), *verdicts, *item;

        add_series(page, 1, 50, 46, 0.5, cases[i].upgrade);
        verdicts = verdicts_of(page);
        item = json_array_get(verdicts, 0);
        assert_string_equal(text_of(item, "run"), "s1-r46");
        assert_string_equal(text_of(item, "last_before"), "s1-r45");
        assert_int_equal(json_object_size(member(item, "versions")), cases[i].is_named);
        assert_int_equal(strstr(text_of(item, "sentence"), "nccl 2.27.3") != NULL,
                         cases[i].is_named);
        json_decref(verdicts);
        json_decref(page);
    }
}

/* 3 % amid 1 % cannot be dated to the run, so any version that changed near it counts. */
TEST(uncertain_date_names_its_range)
{
    bool is_range = false;

    for (int i = 0; i < 20 && !is_range; i++) {
        json_t *page = page_create(), *verdicts, *item;
        const char *earliest, *latest;

        add_series(page, 1, 60, 30, 0.97, 30);
        verdicts = verdicts_of(page);
        item = json_array_get(verdicts, 0);
        earliest = text_of(item, "earliest");
        latest = text_of(item, "latest");
        assert_non_null(earliest);
        is_range = strcmp(earliest, latest) != 0;
        if (is_range)
            assert_non_null(strstr(text_of(item, "sentence"), "change began between"));
        json_decref(verdicts);
        json_decref(page);
    }
    assert_true(is_range);
}

TEST(series_without_a_change_and_short_ones_say_so)
{
    json_t *page = page_create(), *verdicts;

    add_series(page, 1, 30, 99, 1.0, 99);
    add_series(page, 2, 30, 15, 0.99, 99);
    add_series(page, 3, 5, 4, 0.5, 99);
    verdicts = verdicts_of(page);
    assert_int_equal(json_array_size(verdicts), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *item = json_array_get(verdicts, i);

        assert_string_equal(text_of(item, "answer"), i < 2 ? "none" : "not_enough_data");
        assert_true(json_is_null(json_object_get(item, "run")));
        assert_int_equal(json_is_real(json_object_get(item, "p")), i < 2);
    }
    json_decref(verdicts);
    json_decref(page);
}

/* A single rank has the bus bandwidth 0. */
TEST(values_without_a_logarithm_are_left_out)
{
    json_t *page = page_create(), *verdicts;

    add_series(page, 1, 20, 0, 0.0, 99);
    verdicts = verdicts_of(page);
    assert_string_equal(text_of(json_array_get(verdicts, 0), "answer"),
                        "not_enough_data");
    json_decref(verdicts);
    json_decref(page);
}

/* The same series: alone it shows a change; beside 99 without, as chance can give one,
 * it shows none, whether these are in its answer or in those of other requests. */
TEST(page_of_many_series_asks_for_more_certainty)
{
    json_t *alone, *page = page_create(), *verdicts = NULL;
    uint64_t seed = 0, wanted = 0;
    double p = 0.0;

    for (seed = 1; seed < 1000 && !wanted; seed++) {
        alone = page_create();
        noise.seed = seed;
        add_series(alone, 1, 12, 11, 0.955, 99);
        verdicts = verdicts_of(alone);
        p = json_number_value(member(json_array_get(verdicts, 0), "p"));
        if (p > CHANGE_POINTS_LEVEL / 5.0 && p <= CHANGE_POINTS_LEVEL) {
            assert_string_equal(text_of(json_array_get(verdicts, 0), "answer"), "worse");
            wanted = seed;
        }
        json_decref(verdicts);
        json_decref(alone);
    }
    assert_true(wanted > 0);
    noise.seed = wanted;
    add_series(page, 1, 12, 11, 0.955, 99);
    verdicts = trend_verdicts(page, &bandwidth, 0.02, 5);
    assert_string_equal(text_of(json_array_get(verdicts, 0), "answer"), "none");
    json_decref(verdicts);
    for (int i = 2; i <= 99; i++)
        add_series(page, i, 6, 99, 1.0, 99);
    add_series(page, 100, 12, 11, 0.5, 99);
    verdicts = verdicts_of(page);
    assert_string_equal(text_of(json_array_get(verdicts, 0), "answer"), "none");
    assert_string_equal(text_of(json_array_get(verdicts, 99), "answer"), "worse");
    json_decref(verdicts);
    json_decref(page);
}

static size_t kept_on(json_t *page)
{
    json_t *verdicts = verdicts_of(page);
    size_t kept = 0;

    for (size_t i = 0; i < json_array_size(verdicts); i++)
        kept += !json_is_null(json_object_get(json_array_get(verdicts, i), "run"));
    json_decref(verdicts);
    return kept;
}

/* Series that change by 5 % are kept among sixty that do not change. */
TEST(pages_keep_the_changes_that_are_there)
{
    size_t pages = test_seeds(40), wrong = 0, right = 0;

    noise.seed = 21;
    for (size_t i = 0; i < pages; i++) {
        json_t *page = page_create();

        for (int k = 1; k <= 60; k++)
            add_series(page, k, 15, 99, 1.0, 99);
        wrong += kept_on(page);
        add_series(page, 61, 40, 30, 0.95, 99);
        right += kept_on(page);
        json_decref(page);
    }
    assert_true(wrong <= 1);
    assert_true(right * 10 >= pages * 9);
}

/* 1.5 % between runs of 1 % is sure after so many, and more than half a per cent. */
TEST(margin_says_what_counts_as_a_change)
{
    json_t *page = page_create(), *verdicts;

    noise.seed = 2;
    add_series(page, 1, 200, 100, 0.985, 99);
    verdicts = verdicts_of(page);
    assert_string_equal(text_of(json_array_get(verdicts, 0), "answer"), "none");
    json_decref(verdicts);
    verdicts = trend_verdicts(page, &bandwidth, 0.005, 1);
    assert_string_equal(text_of(json_array_get(verdicts, 0), "answer"), "worse");
    json_decref(verdicts);
    json_decref(page);
}
