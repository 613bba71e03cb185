/* SPDX-License-Identifier: Apache-2.0 */
/* test_case_values.c - what each case of a run has measured */
#include "tests/unit/summary_fixture.h"
#include "tests/unit/test.h"
#include "tests/unit/vectors.h"

#include "common/base/json_util.h"
#include "server/analysis/case_values.h"

struct given {
    int case_no, cycle, key, rank;
    int64_t size;
    double time_us; /* or value */
};

/* Keys 0 and 1 are of rows, 2 and 3 of figures, the last over sizes. */
static const char *const key_texts[] = {
    "{\"series\":0,\"collective\":\"all_reduce\"}",
    "{\"series\":1,\"collective\":\"broadcast\",\"simulated\":true}",
    "{\"metric\":\"loss\",\"x\":\"step\",\"labels\":{}}",
    "{\"metric\":\"rate\",\"x\":\"size\",\"labels\":{}}",
};

static struct case_values *values_of(const struct given *given, size_t n)
{
    static const struct summary_case cases[] = {{0, 1}, {1, 2}, {0, 1}};
    struct summary_query query = {
        .run = "r", .up_to = INT64_MAX, .cases = cases, .n_cases = 3};
    struct result_record *records = memory_zeroed(n + 1, sizeof(*records), "a test");
    struct case_values *values;
    struct summary *summary;
    json_t *keys[4];

    for (size_t i = 0; i < 4; i++)
        keys[i] = json_loads(key_texts[i], 0, NULL);
    case_values_query(&query);
    for (size_t i = 0; i < n; i++) {
        const struct given *one = &given[i];
        struct result_record *record = &records[i];

        *record = (struct result_record){.event = (int64_t)i + 1,
                                         .case_no = one->case_no,
                                         .attempt = cases[one->case_no].attempt,
                                         .cycle = one->cycle,
                                         .key = one->key,
                                         .choice = -1,
                                         .rank = one->rank,
                                         .size = one->size,
                                         .wrong = -1};

        if (one->key >= 2) {
            record->is_figure = true;
            record->value = one->time_us;
            record->x = (double)one->size;
        } else {
            record->time_us = one->time_us;
            record->algbw_gbs = 100 / one->time_us;
            record->busbw_gbs = 150 / one->time_us;
        }
    }
    summary = summary_of_records(&query, keys, 4, records, n);
    values = case_values_create(summary);
    summary_destroy(summary);
    free(records);
    for (size_t i = 0; i < 4; i++)
        json_decref(keys[i]);
    assert_non_null(values);
    return values;
}

TEST(a_case_has_the_median_of_its_cycles_at_each_size)
{
    static const struct given given[] = {
        {0, 0, 0, -1, 8, 10}, {0, 0, 0, -1, 64, 30}, {0, 1, 0, -1, 8, 14},
        {0, 2, 0, -1, 8, 11}, {1, 0, 0, -1, 8, 20},
    };
    struct case_values *values = values_of(given, 5);
    const struct case_series *series;
    size_t n;

    series = case_values_of(values, 0, &n);
    assert_int_equal(n, 1);
    assert_int_equal(series->n_points, 2);
    assert_int_equal(series->points[0].size, 8);
    assert_near(series->points[0].time_us, 11, 1e-12);
    assert_near(series->points[0].busbw_gbs, 150.0 / 11, 1e-9);
    assert_near(series->points[1].time_us, 30, 1e-12);
    series = case_values_of(values, 1, &n);
    assert_near(series->points[0].time_us, 20, 1e-12);
    case_values_of(values, 2, &n);
    assert_int_equal(n, 0);
    case_values_destroy(values);
}

TEST(a_series_is_found_by_what_it_is_of)
{
    static const struct given given[] = {
        {0, -1, 0, -1, 8, 10}, {0, -1, 1, -1, 8, 20}, {1, -1, 1, -1, 8, 30}};
    struct case_values *values = values_of(given, 3);
    const struct case_series *first, *second, *found;
    size_t n, m;

    first = case_values_of(values, 0, &n);
    second = case_values_of(values, 1, &m);
    assert_int_equal(n, 2);
    assert_int_equal(m, 1);
    found = case_series_find(first, n, second->identity);
    assert_non_null(found);
    assert_string_equal(json_get_str(found->key, "collective", ""), "broadcast");
    assert_null(strstr(second->identity, "simulated"));
    assert_null(case_series_find(second, m, "{}"));
    case_values_destroy(values);
}

/* Of figures over a size each size counts, of others all values together. */
TEST(figures_have_a_value_for_each_size_or_one)
{
    static const struct given given[] = {
        {0, -1, 2, 0, 0, 5},  {0, -1, 2, 0, 1, 3},   {0, -1, 2, 0, 2, 4},
        {0, -1, 3, -1, 8, 1}, {0, -1, 3, -1, 64, 9}, {0, -1, 3, -1, 8, 2},
    };
    struct case_values *values = values_of(given, 6);
    const struct case_series *series;
    size_t n;

    series = case_values_of(values, 0, &n);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) {
        assert_true(series[i].is_figure);
        if (strcmp(json_get_str(series[i].key, "metric", ""), "loss") == 0) {
            assert_int_equal(series[i].n_points, 1);
            assert_int_equal(series[i].points[0].size, -1);
            assert_near(series[i].points[0].value, 4, 0);
            assert_int_equal(json_get_int(series[i].key, "rank", -1), 0);
        } else {
            assert_int_equal(series[i].n_points, 2);
            assert_near(series[i].points[0].value, 1.5, 0);
            assert_int_equal(series[i].points[1].size, 64);
        }
    }
    case_values_destroy(values);
}

TEST(cases_meet_at_the_sizes_that_all_have)
{
    static const int64_t big = 8 << 20;
    const struct given given[] = {
        {0, 0, 0, -1, 8, 10},  {0, 0, 0, -1, 64, 30},  {0, 0, 0, -1, big, 150},
        {1, 0, 0, -1, 16, 20}, {1, 0, 0, -1, 64, 40},  {1, 0, 0, -1, big, 75},
        {2, 0, 0, -1, 64, 50}, {2, 0, 0, -1, big, 50},
    };
    struct case_values *values = values_of(given, 8);
    const struct case_series *series[3];
    size_t at[3] = {0}, n;
    int64_t size;

    for (int i = 0; i < 3; i++)
        series[i] = case_values_of(values, i, &n);
    assert_true(case_series_meet(series, at, 3, &size));
    assert_int_equal(size, 64);
    assert_near(case_series_figure(series[1], at[1]), 40, 0); /* a small size: us */
    at[0]++;
    assert_true(case_series_meet(series, at, 3, &size));
    assert_int_equal(size, big);
    assert_near(case_series_figure(series[1], at[1]), 2, 0); /* a large one: GB/s */
    at[0]++;
    assert_false(case_series_meet(series, at, 3, &size));
    case_values_destroy(values);
}
