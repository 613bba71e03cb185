/* test_svg_chart.c - charts as static SVG */
#include <math.h>

#include "golden_file.h"
#include "server/report/svg_chart.h"

static void tip(const void *data, size_t point, struct html *out)
{
    html_textf(out, "%s <%zu>", (const char *)data, point);
}

static char *draw(const struct chart *chart)
{
    struct html html;

    html_init(&html, 1 << 20);
    chart_svg(chart, &html);
    assert_false(html.is_failed);
    return buf_detach(&html.out, NULL);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

static void draws_series_over_sizes(void **state)
{
    static const struct chart_point out_of_place[] = {{8, 0.5, 0.25, 1.0, false},
                                                      {64, 2.0, 1.0, 2.5, true},
                                                      {1024, 4.0, 4.0, 4.0, false}};
    static const struct chart_point in_place[] = {{64, 3.0, 3.0, 3.0, false}};
    const struct chart_line lines[] = {
        {.look = 0, .points = out_of_place, .n_points = 3, .tip = tip, .data = "a"},
        {.look = 0, .is_hollow = true, .points = in_place, .n_points = 1},
    };
    const struct chart chart = {.kind = CHART_SIZES,
                                .title = "busbw of <all_reduce>",
                                .y_name = "GB/s & more",
                                .mark = "simulated",
                                .x_min = 8,
                                .x_max = 1024,
                                .y_max = 5,
                                .lines = lines,
                                .n_lines = 2};
    char *svg = draw(&chart);

    (void)state;
    golden_compare("report/sizes.svg", svg);
    free(svg);
}

static void draws_bars_of_cases(void **state)
{
    static const struct chart_point points[] = {{0, 1.0, -1.0, 2.0, false},
                                                {1, 1.5, 1.5, 1.5, false}};
    const struct chart_line lines[] = {{.look = 1, .points = points, .n_points = 2}};
    const struct chart chart = {.kind = CHART_CASES,
                                .title = "loss",
                                .y_name = "nats",
                                .x_max = 1,
                                .y_min = -2,
                                .y_max = 2,
                                .lines = lines,
                                .n_lines = 1};
    char *svg = draw(&chart);

    (void)state;
    golden_compare("report/cases.svg", svg);
    free(svg);
}

static void leaves_out_what_has_no_place(void **state)
{
    const struct chart_point points[] = {{0, 1, 1, 1, false},
                                         {8, nan(""), 1, 1, false},
                                         {16, HUGE_VAL, 1, 1, false},
                                         {32, 1, 1, 1, false}};
    const struct chart_line lines[] = {{.points = points, .n_points = 4}};
    const struct chart chart = {.kind = CHART_SIZES,
                                .title = "",
                                .y_name = "",
                                .x_min = 32,
                                .x_max = 32,
                                .y_max = 1,
                                .lines = lines,
                                .n_lines = 1};
    char *svg = draw(&chart);

    (void)state;
    assert_int_equal(count(svg, "class=\"point"), 1);
    assert_int_equal(count(svg, "<polyline"), 0);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
    free(svg);
}

static void large_values_fit_beside_the_axis(void **state)
{
    const struct chart chart = {
        .kind = CHART_CASES, .title = "", .y_name = "", .x_max = 1, .y_max = 1000000};
    char *svg = draw(&chart);

    (void)state;
    assert_non_null(strstr(svg, ">200k</text>"));
    assert_non_null(strstr(svg, ">1M</text>"));
    assert_null(strstr(svg, "1000000"));
    free(svg);
}

#define MANY 100000

static void thins_long_lines_but_keeps_their_peaks(void **state)
{
    struct chart_point *points = calloc(MANY, sizeof(*points));
    struct chart_line line = {.points = points, .n_points = MANY};
    const struct chart chart = {.kind = CHART_SIZES,
                                .title = "",
                                .y_name = "",
                                .x_min = 4,
                                .x_max = 4.0 * MANY,
                                .y_max = 10,
                                .lines = &line,
                                .n_lines = 1};
    char *svg;

    (void)state;
    assert_non_null(points);
    for (size_t i = 0; i < MANY; i++)
        points[i] = (struct chart_point){4.0 * (double)(i + 1), 1, 1, 1, false};
    points[77777].y = 9.0;
    points[55555].is_wrong = true;
    svg = draw(&chart);
    assert_true(strlen(svg) < 40000);
    /* 9 of 10 on a plot of 266 from 30 down. */
    assert_non_null(strstr(svg, ",56.6 "));
    free(svg);
    free(points);
}

static void every_look_differs(void **state)
{
    char *seen[28] = {NULL};

    (void)state;
    for (size_t i = 0; i < 28; i++) {
        struct html html;

        html_init(&html, 4096);
        chart_glyph(i / 2, i % 2, &html);
        seen[i] = buf_detach(&html.out, NULL);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(seen[i], seen[j]);
    }
    for (size_t i = 0; i < 28; i++)
        free(seen[i]);
}

static void axes_end_at_round_numbers(void **state)
{
    static const double cases[][2] = {{0.0, 1},       {-1, 1},     {1.0, 1},
                                      {1.1, 1.2},     {37.0, 40},  {8.1, 10},
                                      {0.012, 0.012}, {2.6e6, 3e6}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_true(fabs(chart_ceiling(cases[i][0]) / cases[i][1] - 1.0) < 1e-9);
    assert_true(fabs(chart_ceiling(nan("")) - 1.0) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_series_over_sizes),
        cmocka_unit_test(draws_bars_of_cases),
        cmocka_unit_test(leaves_out_what_has_no_place),
        cmocka_unit_test(large_values_fit_beside_the_axis),
        cmocka_unit_test(thins_long_lines_but_keeps_their_peaks),
        cmocka_unit_test(every_look_differs),
        cmocka_unit_test(axes_end_at_round_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
