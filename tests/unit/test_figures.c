/* test_figures.c - what a run's rows add up to */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/json_util.h"
#include "server/report/figures.h"
#include "server/store/summary.h"

static json_t *parse(const char *text)
{
    struct error err;
    json_t *value = json_parse(text, strlen(text), &err);

    if (!value)
        fail_msg("%s: %s", err.text, text);
    return value;
}

static struct figures *figures_of(const char *run_text, const char *rows_text)
{
    json_t *run = parse(run_text), *rows = parse(rows_text);
    struct figures *figures = figures_create(run, rows);

    assert_non_null(figures);
    json_decref(run);
    json_decref(rows);
    return figures;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-9 * fmax(1.0, fabs(b));
}

/* Times in us and bandwidths of four repeats of one size. */
static void medians_and_bounds_over_repeats(void **state)
{
    struct figures *figures = figures_of(
        "{\"cases\":[]}",
        "[{\"case\":0,\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":"
        "\"sum\","
        "\"root\":-1,\"in_place\":false,\"size\":1000,\"time_us\":10,\"time_min_us\":8,"
        "\"time_max_us\":12,\"algbw_gbs\":0.1,\"busbw_gbs\":0.2,\"wrong\":0},"
        "{\"case\":1,\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":"
        "\"sum\","
        "\"root\":-1,\"in_place\":false,\"size\":1000,\"time_us\":40,\"time_min_us\":20,"
        "\"time_max_us\":50,\"algbw_gbs\":0.025,\"busbw_gbs\":0.05,\"wrong\":3},"
        "{\"case\":2,\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":"
        "\"sum\","
        "\"root\":-1,\"in_place\":false,\"size\":1000,\"time_us\":20,\"time_min_us\":16,"
        "\"time_max_us\":25,\"algbw_gbs\":0.05,\"busbw_gbs\":0.1,\"wrong\":null}]");
    const struct figure_point *point;

    (void)state;
    assert_int_equal(figures->n_series, 1);
    assert_string_equal(figures->series[0].collective, "all_reduce");
    assert_string_equal(figures->series[0].label, "float32 sum");
    assert_int_equal(figures->series[0].n_points, 1);
    point = &figures->series[0].points[0];
    assert_int_equal(point->repeats, 3);
    assert_true(is_near(point->time_us, 20));
    assert_true(is_near(point->busbw_gbs, 0.1));
    assert_true(is_near(point->algbw_gbs, 0.05));
    assert_true(is_near(point->time_min_us, 8));
    assert_true(is_near(point->time_max_us, 50));
    /* busbw times time is the same for all: 2 KB. */
    assert_true(is_near(point->busbw_max_gbs, 0.25));
    assert_true(is_near(point->busbw_min_gbs, 0.04));
    assert_int_equal(point->wrong, 3);
    figures_destroy(figures);
}

/* Rows that differ in what stands in `rests`. */
static struct figures *figures_of_rows(const char *run_text, const char *const *rests,
                                       size_t n)
{
    json_t *run = parse(run_text), *rows = json_array();
    struct figures *figures;
    char text[512];

    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof(text),
                 "{\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\","
                 "\"root\":-1,\"size\":8,\"time_us\":1,%s}",
                 rests[i]);
        json_array_append_new(rows, parse(text));
    }
    figures = figures_create(run, rows);
    assert_non_null(figures);
    json_decref(run);
    json_decref(rows);
    return figures;
}

static void series_differ_by_what_was_varied(void **state)
{
    static const char *const rests[] = {
        "\"case\":0,\"in_place\":false", "\"case\":0,\"in_place\":true",
        "\"case\":1,\"in_place\":false", "\"case\":1,\"group\":3,\"in_place\":false",
        "\"case\":0,\"in_place\":false",
    };
    static const struct {
        const char *label;
        size_t family;
        bool is_in_place;
    } want[] = {
        {"float32 sum, A=1, B unset", 0, false},
        {"float32 sum, A=1, B unset", 0, true},
        {"float32 sum, A=2, B unset", 1, false},
        {"float32 sum, group 3, A=2, B unset", 2, false},
    };
    struct figures *figures = figures_of_rows(
        "{\"cases\":[{\"case\":0,\"attempt\":1,\"env\":{\"A\":\"1\",\"B\":null}},"
        "{\"case\":1,\"attempt\":1,\"env\":{\"A\":\"2\",\"B\":null}}]}",
        rests, 5);

    (void)state;
    assert_int_equal(figures->n_series, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(figures->series[i].label, want[i].label);
        assert_int_equal(figures->series[i].family, want[i].family);
        assert_int_equal(figures->series[i].is_in_place, want[i].is_in_place);
    }
    assert_int_equal(figures->series[0].points[0].repeats, 2);
    assert_int_equal(figures->series[0].points[0].wrong, -1);
    figures_destroy(figures);
}

static void families_begin_anew_in_each_collective(void **state)
{
    struct figures *figures = figures_of(
        "{}", "[{\"collective\":\"a\",\"dtype\":\"int8\",\"size\":8,\"time_us\":1},"
              "{\"collective\":\"b\",\"dtype\":\"int32\",\"redop\":\"none\","
              "\"root\":2,\"size\":8,\"time_us\":1}]");

    (void)state;
    assert_int_equal(figures->n_series, 2);
    assert_int_equal(figures->series[0].family, 0);
    assert_int_equal(figures->series[1].family, 0);
    assert_string_equal(figures->series[1].label, "int32, root 2");
    figures_destroy(figures);
}

static void rows_of_given_up_attempts_do_not_count(void **state)
{
    static const char *const rests[] = {
        "\"case\":0,\"attempt\":1",
        "\"case\":0,\"attempt\":2",
        "\"case\":0,\"attempt\":2,\"skipped\":\"too large\"",
    };
    struct figures *figures =
        figures_of_rows("{\"cases\":[{\"case\":0,\"attempt\":2}]}", rests, 3);

    (void)state;
    assert_int_equal(figures->n_series, 1);
    assert_int_equal(figures->series[0].points[0].repeats, 1);
    figures_destroy(figures);
}

static void points_rise_with_size(void **state)
{
    struct figures *figures =
        figures_of("{}", "[{\"size\":64,\"time_us\":3},{\"size\":8,\"time_us\":1},"
                         "{\"size\":16,\"time_us\":2}]");

    (void)state;
    assert_int_equal(figures->series[0].n_points, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(is_near(figures->series[0].points[i].time_us, (double)i + 1));
    figures_destroy(figures);
}

static void metrics_add_up_per_case_and_size(void **state)
{
    struct figures *figures = figures_of(
        "{}", "[{\"metric\":\"rate\",\"unit\":\"x/s\",\"value\":4,\"case\":0,"
              "\"higher_is_better\":true},"
              "{\"metric\":\"rate\",\"unit\":\"x/s\",\"value\":1,\"case\":0},"
              "{\"metric\":\"rate\",\"unit\":\"x/s\",\"value\":2,\"case\":0},"
              "{\"metric\":\"rate\",\"unit\":\"x/s\",\"value\":9,\"case\":1},"
              "{\"metric\":\"busbw\",\"value\":1,\"case\":0,\"higher_is_better\":false,"
              "\"labels\":{\"size\":16,\"kind\":\"a\"}},"
              "{\"metric\":\"busbw\",\"value\":2,\"case\":0,\"labels\":{\"size\":8,"
              "\"kind\":\"a\"}}]");
    const struct figure_metric *metric = figures->metrics;

    (void)state;
    assert_int_equal(figures->n_series, 0);
    assert_int_equal(figures->n_metrics, 2);
    assert_string_equal(metric[0].name, "rate");
    assert_string_equal(metric[0].unit, "x/s");
    assert_false(metric[0].has_sizes);
    assert_int_equal(metric[0].n_cases, 2);
    assert_int_equal(metric[0].cases[0].count, 3);
    assert_true(is_near(metric[0].cases[0].min, 1));
    assert_true(is_near(metric[0].cases[0].median, 2));
    assert_true(is_near(metric[0].cases[0].max, 4));
    assert_true(is_near(metric[0].cases[0].last, 2));
    assert_string_equal(metric[1].name, "busbw, kind=a");
    assert_true(metric[1].has_sizes);
    assert_false(metric[1].higher_is_better);
    assert_true(is_near(metric[1].cases[0].size, 8));
    assert_true(is_near(metric[1].cases[1].size, 16));
    figures_destroy(figures);
}

static void a_summary_stands_for_rows_that_are_not_there(void **state)
{
    char reason[] = "too large";
    struct summary_point points[] = {
        {.size = 8,
         .rows = 4,
         .wrong = 2,
         .time_us = 10,
         .ranks = {.time_us = {5, 20}, .busbw_gbs = {1, 4}},
         .algbw_gbs = 1,
         .busbw_gbs = 2},
        {.size = 16, .skipped = 1, .wrong = -1, .reason = reason},
    };
    struct summary_series series = {
        .combination = 1, .case_no = -1, .cycle = -1, .points = points, .n_points = 2};
    const struct summary summary = {.series = &series, .n_series = 1};
    const struct summary_case cases[] = {{0, 1}, {1, 1}};
    json_t *run = parse("{\"cases\":[{\"case\":0,\"env\":{\"A\":\"1\"}},"
                        "{\"case\":1,\"env\":{\"A\":\"2\"}}]}");
    json_t *rows = parse("[{\"size\":8,\"time_us\":1},{\"metric\":\"m\",\"value\":1}]");
    struct figures *figures;
    const struct figure_point *got;

    (void)state;
    series.key = parse("{\"collective\":\"all_reduce\",\"dtype\":\"int8\","
                       "\"redop\":\"max\",\"root\":-1,\"in_place\":true}");
    figures = figures_from_summary(run, rows, &summary, cases, 2);
    assert_non_null(figures);
    assert_int_equal(figures->n_series, 1);
    assert_int_equal(figures->n_metrics, 1);
    assert_string_equal(figures->series[0].label, "int8 max, A=2");
    assert_true(figures->series[0].is_in_place);
    got = figures->series[0].points;
    assert_int_equal(got[0].repeats, 4);
    assert_int_equal(got[0].wrong, 2);
    assert_true(is_near(got[0].busbw_max_gbs, 4));
    assert_true(is_near(got[0].busbw_min_gbs, 1));
    assert_null(got[0].skipped);
    assert_true(isnan(got[1].busbw_gbs));
    assert_string_equal(got[1].skipped, "too large");
    json_decref(series.key);
    json_decref(run);
    json_decref(rows);
    figures_destroy(figures);
}

static void nothing_is_fine(void **state)
{
    struct figures *figures = figures_of("{}", "[]");

    (void)state;
    assert_int_equal(figures->n_series + figures->n_metrics, 0);
    figures_destroy(figures);
    figures_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_and_bounds_over_repeats),
        cmocka_unit_test(series_differ_by_what_was_varied),
        cmocka_unit_test(families_begin_anew_in_each_collective),
        cmocka_unit_test(rows_of_given_up_attempts_do_not_count),
        cmocka_unit_test(points_rise_with_size),
        cmocka_unit_test(metrics_add_up_per_case_and_size),
        cmocka_unit_test(a_summary_stands_for_rows_that_are_not_there),
        cmocka_unit_test(nothing_is_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
