/* section_charts.c - a run's series as drawings, with their data as tables */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_util.h"
#include "server/report/sections.h"
#include "server/report/svg_chart.h"

/* More lines than this can't be told apart. */
#define LINES_MAX 14
#define LATENCY_BYTES_MAX 65536.0
#define CHART_TITLE_MAX 160
#define METRICS_SHOWN_MAX 64

struct range {
    double x_min, x_max, y_min, y_max;
};

static void range_init(struct range *range)
{
    *range = (struct range){HUGE_VAL, -HUGE_VAL, 0.0, 0.0};
}

static void range_add(struct range *range, double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    range->x_min = fmin(range->x_min, x);
    range->x_max = fmax(range->x_max, x);
    range->y_min = fmin(range->y_min, y);
    range->y_max = fmax(range->y_max, y);
}

static bool range_is_empty(const struct range *range)
{
    return range->x_min > range->x_max;
}

static void range_to_chart(const struct range *range, struct chart *chart)
{
    chart->x_min = range->x_min;
    chart->x_max = range->x_max;
    chart->y_max = chart_ceiling(range->y_max * 1.04);
    chart->y_min = range->y_min < 0.0 ? -chart_ceiling(-range->y_min * 1.04) : 0.0;
}

/* ---- Series over sizes ---- */

static void tip_of_point(const void *data, size_t i, struct html *out)
{
    const struct figure_series *series = data;
    const struct figure_point *point = &series->points[i];
    char size[HTML_NUMBER_MAX], a[HTML_NUMBER_MAX], b[HTML_NUMBER_MAX];

    html_short(out, series->label, CHART_TITLE_MAX);
    html_textf(out, "%s\n%s bytes\n", series->is_in_place ? ", in place" : "",
               html_size(point->size, size));
    html_textf(out, "busbw %s GB/s, algbw %s GB/s\n", html_figure(point->busbw_gbs, 4, a),
               html_figure(point->algbw_gbs, 4, b));
    html_textf(out, "time %s us", html_figure(point->time_us, 4, a));
    html_textf(out, " (%s to %s)", html_figure(point->time_min_us, 4, a),
               html_figure(point->time_max_us, 4, b));
    if (point->repeats > 1)
        html_textf(out, "\nmedian of %zu repeats", point->repeats);
    if (point->wrong > 0)
        html_textf(out, "\n%lld wrong element%s", (long long)point->wrong,
                   point->wrong == 1 ? "" : "s");
}

static void put_chart_table(const struct report *report, const char *collective)
{
    static const char *const names[] = {
        "series",       "placement",    "#size, B", "#time, µs", "#min", "#max",
        "#algbw, GB/s", "#busbw, GB/s", "#repeats", "#wrong",    NULL};
    struct html *html = report->html;

    html_raw(
        html,
        "<details class=\"chart-data\"><summary>The chart's data as a table</summary>");
    put_table(html, collective, NULL, names);
    for (size_t i = 0; i < report->figures->n_series; i++) {
        const struct figure_series *series = &report->figures->series[i];

        if (strcmp(series->collective, collective) != 0)
            continue;
        for (size_t j = 0; j < series->n_points; j++) {
            const struct figure_point *point = &series->points[j];

            html_raw(html, "<tr>");
            html_element(html, "td", NULL, series->label);
            html_element(html, "td", NULL,
                         series->is_in_place ? "in place" : "out of place");
            html_rawf(html, "<td class=\"n\">%.0f</td>", point->size);
            put_figure(html, point->time_us, 5);
            put_figure(html, point->time_min_us, 5);
            put_figure(html, point->time_max_us, 5);
            put_figure(html, point->algbw_gbs, 4);
            put_figure(html, point->busbw_gbs, 4);
            put_integer(html, (int64_t)point->repeats);
            if (point->wrong < 0)
                html_raw(html, "<td class=\"n\">-</td></tr>\n");
            else
                html_rawf(html, "<td class=\"n%s\">%lld</td></tr>\n",
                          point->wrong > 0 ? " bad" : "", (long long)point->wrong);
        }
    }
    end_table(html);
    html_raw(html, "</details>\n");
}

/* The points of one line; all lines' lie one after the other in `store`. */
static size_t fill_points(const struct figure_series *series, bool is_latency,
                          struct chart_point *store, struct range *range)
{
    size_t n = 0;

    for (size_t i = 0; i < series->n_points; i++) {
        const struct figure_point *p = &series->points[i];

        if (is_latency && p->size > LATENCY_BYTES_MAX)
            break;
        if (is_latency)
            store[n] = (struct chart_point){p->size, p->time_us, p->time_min_us,
                                            p->time_max_us, p->wrong > 0};
        else
            store[n] = (struct chart_point){p->size, p->busbw_gbs, p->busbw_min_gbs,
                                            p->busbw_max_gbs, p->wrong > 0};
        if (p->size >= 1.0)
            range_add(range, p->size, store[n].y);
        n++;
    }
    return n;
}

struct panel {
    struct chart_line lines[LINES_MAX];
    size_t n_lines;
    struct chart_point *points;
    struct range range;
};

static int panel_fill(const struct report *report, const char *collective,
                      bool is_latency, struct panel *panel)
{
    const struct figures *figures = report->figures;
    size_t total = 1, used = 0;

    memset(panel, 0, sizeof(*panel));
    range_init(&panel->range);
    for (size_t i = 0; i < figures->n_series; i++)
        total += figures->series[i].n_points;
    panel->points = calloc(total, sizeof(*panel->points));
    if (!panel->points)
        return -1;
    for (size_t i = 0; i < figures->n_series && panel->n_lines < LINES_MAX; i++) {
        const struct figure_series *series = &figures->series[i];
        struct chart_line *line = &panel->lines[panel->n_lines];

        if (strcmp(series->collective, collective) != 0)
            continue;
        *line = (struct chart_line){.look = series->family,
                                    .is_hollow = series->is_in_place,
                                    .points = &panel->points[used],
                                    .tip = tip_of_point,
                                    .data = series};
        line->n_points =
            fill_points(series, is_latency, &panel->points[used], &panel->range);
        used += line->n_points;
        panel->n_lines += line->n_points > 0;
    }
    return 0;
}

static void put_panel(const struct report *report, const char *collective,
                      bool is_latency, double busbw_max)
{
    struct html *html = report->html;
    struct panel panel;
    char title[CHART_TITLE_MAX];
    struct chart chart = {.kind = CHART_SIZES, .title = title, .mark = report->unreal};

    if (panel_fill(report, collective, is_latency, &panel)) {
        html->is_failed = true;
        return;
    }
    if (!range_is_empty(&panel.range)) {
        range_to_chart(&panel.range, &chart);
        if (!is_latency)
            chart.y_max = busbw_max;
        chart.lines = panel.lines;
        chart.n_lines = panel.n_lines;
        chart.y_name = is_latency ? "time per call, µs (up to 64 KiB)" : "busbw, GB/s";
        snprintf(title, sizeof(title), "%s of %.80s over size",
                 is_latency ? "Time per call" : "Bus bandwidth", collective);
        html_raw(html, "<figure><figcaption>");
        html_text(html, collective);
        html_text(html, is_latency ? ", latency" : "");
        html_raw(html, "</figcaption>");
        chart_svg(&chart, html);
        html_raw(html, "</figure>\n");
    }
    free(panel.points);
}

static size_t count_lines(const struct report *report, const char *collective)
{
    size_t n = 0;

    for (size_t i = 0; i < report->figures->n_series; i++)
        n += strcmp(report->figures->series[i].collective, collective) == 0;
    return n;
}

static void put_legend(const struct report *report, const char *collective)
{
    const struct figures *figures = report->figures;
    struct html *html = report->html;
    size_t shown = 0, all = count_lines(report, collective);

    html_raw(html, "<ul class=\"legend\">");
    for (size_t i = 0; i < figures->n_series && shown < LINES_MAX; i++) {
        const struct figure_series *series = &figures->series[i];

        if (strcmp(series->collective, collective) != 0)
            continue;
        shown++;
        html_raw(html, "<li>");
        chart_glyph(series->family, series->is_in_place, html);
        html_text(html, series->label);
        html_text(html, series->is_in_place ? ", in place" : "");
        html_raw(html, "</li>");
    }
    html_raw(html, "</ul>\n");
    if (all > shown)
        html_rawf(html,
                  "<p class=\"muted\">%zu of %zu series are drawn; the tables have "
                  "all of them.</p>\n",
                  shown, all);
}

static bool is_first_of_collective(const struct figures *figures, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(figures->series[i].collective, figures->series[index].collective) == 0)
            return false;
    }
    return true;
}

/* The same for all collectives, so that their charts can be compared. */
static double busbw_scale(const struct figures *figures)
{
    double max = 0.0;

    for (size_t i = 0; i < figures->n_series; i++) {
        for (size_t j = 0; j < figures->series[i].n_points; j++)
            max = fmax(max, figures->series[i].points[j].busbw_gbs);
    }
    return chart_ceiling(max * 1.04);
}

void section_charts(const struct report *report)
{
    const struct figures *figures = report->figures;
    struct html *html = report->html;
    double scale = busbw_scale(figures);

    if (figures->n_series == 0)
        return;
    html_raw(html, "<section><h2>Charts</h2>\n<p class=\"muted\">Medians over repeats; "
                   "the bands go from the fastest to the slowest rank of all repeats.");
    if (report->facts->figures)
        html_raw(html, " They stand for every row, also for those that the table leaves "
                       "out; of series with very many sizes, some are left out.");
    html_raw(html, "</p>\n");
    for (size_t i = 0; i < figures->n_series; i++) {
        const char *collective = figures->series[i].collective;

        if (!is_first_of_collective(figures, i))
            continue;
        html_raw(html, "<div class=\"charts\">");
        put_panel(report, collective, false, scale);
        put_panel(report, collective, true, scale);
        html_raw(html, "</div>\n");
        put_legend(report, collective);
        put_chart_table(report, collective);
    }
    html_raw(html, "</section>\n");
}

/* ---- What programs print ---- */

struct metric_view {
    const struct report *report;
    const struct figure_metric *metric;
    size_t first; /* of the line's cases */
};

static void tip_of_case(const void *data, size_t i, struct html *out)
{
    const struct metric_view *view = data;
    const struct metric_case *c = &view->metric->cases[view->first + i];
    struct report report = *view->report;
    char a[HTML_NUMBER_MAX], b[HTML_NUMBER_MAX], size[HTML_NUMBER_MAX];

    report.html = out;
    put_case(&report, c->case_no);
    if (c->size > 0.0)
        html_textf(out, "\n%s bytes", html_size(c->size, size));
    html_textf(out, "\nmedian %s %s\n", html_figure(c->median, 4, a), view->metric->unit);
    html_textf(out, "%s to %s, %zu values", html_figure(c->min, 4, a),
               html_figure(c->max, 4, b), c->count);
}

static void fill_case(const struct figure_metric *metric, size_t i,
                      struct chart_point *point, struct range *range)
{
    const struct metric_case *c = &metric->cases[i];
    double x = metric->has_sizes ? c->size : (double)c->case_no;

    *point = (struct chart_point){x, c->median, c->min, c->max, false};
    range_add(range, x, c->min);
    range_add(range, x, c->max);
}

/* Of a metric with sizes, each case is a line; else all cases are one. */
static size_t split_lines(const struct report *report, const struct figure_metric *metric,
                          const struct chart_point *points, struct chart_line *lines,
                          struct metric_view *views)
{
    size_t n = 0;

    for (size_t i = 0; i < metric->n_cases && n < LINES_MAX; i++) {
        bool is_new = i == 0 || (metric->has_sizes && metric->cases[i].case_no !=
                                                          metric->cases[i - 1].case_no);

        if (is_new) {
            views[n] = (struct metric_view){report, metric, i};
            lines[n] = (struct chart_line){
                .look = n, .points = &points[i], .tip = tip_of_case, .data = &views[n]};
            n++;
        }
        lines[n - 1].n_points++;
    }
    return n;
}

static void put_metric_legend(const struct report *report,
                              const struct metric_view *views, size_t n)
{
    struct html *html = report->html;

    if (n < 2)
        return;
    html_raw(html, "<ul class=\"legend\">");
    for (size_t i = 0; i < n; i++) {
        html_raw(html, "<li>");
        chart_glyph(i, false, html);
        put_case(report, views[i].metric->cases[views[i].first].case_no);
        html_raw(html, "</li>");
    }
    html_raw(html, "</ul>");
}

static void put_metric(const struct report *report, const struct figure_metric *metric)
{
    struct html *html = report->html;
    struct chart_point *points = calloc(metric->n_cases, sizeof(*points));
    struct metric_view views[LINES_MAX];
    struct chart_line lines[LINES_MAX];
    struct chart chart = {.kind = metric->has_sizes ? CHART_SIZES : CHART_CASES,
                          .title = metric->name,
                          .mark = report->unreal,
                          .lines = lines};
    struct range range;

    if (!points) {
        html->is_failed = true;
        return;
    }
    range_init(&range);
    for (size_t i = 0; i < metric->n_cases; i++)
        fill_case(metric, i, &points[i], &range);
    chart.n_lines = split_lines(report, metric, points, lines, views);
    range_to_chart(&range, &chart);
    chart.y_name = *metric->unit ? metric->unit : "value";
    html_raw(html, "<figure><figcaption>");
    html_text(html, metric->name);
    html_rawf(html, " <span class=\"unit\">(%s is better; by %s)</span></figcaption>",
              metric->higher_is_better ? "higher" : "lower",
              metric->has_sizes ? "size" : "case");
    chart_svg(&chart, html);
    put_metric_legend(report, views, metric->has_sizes ? chart.n_lines : 0);
    html_raw(html, "</figure>\n");
    free(points);
}

static void put_metric_rows(const struct report *report,
                            const struct figure_metric *metric)
{
    struct html *html = report->html;

    for (size_t i = 0; i < metric->n_cases; i++) {
        const struct metric_case *c = &metric->cases[i];

        html_raw(html, "<tr><th scope=\"row\">");
        html_text(html, metric->name);
        html_raw(html, "</th>");
        html_element(html, "td", NULL, metric->unit);
        html_raw(html, "<td>");
        put_case(report, c->case_no);
        html_raw(html, "</td>");
        if (c->size > 0.0)
            html_rawf(html, "<td class=\"n\">%.0f</td>", c->size);
        else
            html_raw(html, "<td class=\"n\"></td>");
        put_integer(html, (int64_t)c->count);
        put_figure(html, c->median, 5);
        put_figure(html, c->min, 5);
        put_figure(html, c->max, 5);
        put_figure(html, c->last, 5);
        html_raw(html, "</tr>\n");
    }
}

void section_metrics(const struct report *report)
{
    static const char *const names[] = {"metric",  "unit", "case", "#size", "#values",
                                        "#median", "#min", "#max", "#last", NULL};
    const struct figures *figures = report->figures;
    struct html *html = report->html;
    size_t shown = figures->n_metrics;

    if (shown == 0)
        return;
    if (shown > METRICS_SHOWN_MAX)
        shown = METRICS_SHOWN_MAX;
    html_raw(html, "<section><h2>Figures</h2>\n<p class=\"muted\">Of all ranks: medians, "
                   "with bars or bands from the least to the greatest.");
    if (facts_rows_left_out(report->facts) > 0)
        html_rawf(html, " <strong>Only of the first %zu.</strong>",
                  json_array_size(report->facts->rows));
    html_raw(html, "</p>\n<div class=\"charts\">");
    for (size_t i = 0; i < shown; i++)
        put_metric(report, &figures->metrics[i]);
    html_raw(html, "</div>\n");
    if (shown < figures->n_metrics)
        html_rawf(html, "<p>%zu of %zu are drawn.</p>", shown, figures->n_metrics);
    put_table(html, "Figures", NULL, names);
    for (size_t i = 0; i < figures->n_metrics; i++)
        put_metric_rows(report, &figures->metrics[i]);
    end_table(html);
    html_raw(html, "</section>\n");
}
