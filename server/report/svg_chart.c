/* svg_chart.c - a chart as static SVG inside a page */
#include "server/report/svg_chart.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define WIDTH 560
#define HEIGHT 330
#define LEFT 58
#define RIGHT 14
#define TOP 30
#define BOTTOM 34
#define PLOT_WIDTH (WIDTH - LEFT - RIGHT)
#define PLOT_HEIGHT (HEIGHT - TOP - BOTTOM)
#define TICK_ROOM 44 /* between labels of sizes */
#define COLOURS 7
#define RADIUS 3.4
/* Lines of more points are drawn without marks, and thinned to the columns of the plot.
 */
#define MARKED_POINTS_MAX 160

/* What one call of chart_svg works with. */
struct scales {
    const struct chart *chart;
    double x_low, x_span; /* log2 of bytes, or cases */
};

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static double x_of(const struct scales *scales, double x)
{
    double at = scales->chart->kind == CHART_SIZES ? log2(x) : x;

    return LEFT + PLOT_WIDTH * clamp((at - scales->x_low) / scales->x_span, 0.0, 1.0);
}

static double y_of(const struct scales *scales, double y)
{
    const struct chart *chart = scales->chart;
    double span = chart->y_max - chart->y_min;
    double share = span > 0.0 ? (y - chart->y_min) / span : 0.0;

    return TOP + PLOT_HEIGHT * (1.0 - clamp(share, 0.0, 1.0));
}

static void scales_init(struct scales *scales, const struct chart *chart)
{
    double low = chart->x_min, high = chart->x_max;

    if (chart->kind == CHART_SIZES) {
        low = log2(fmax(low, 1.0)) - 0.5;
        high = log2(fmax(high, 1.0)) + 0.5;
    } else {
        low -= 0.5;
        high += 0.5;
    }
    scales->chart = chart;
    scales->x_low = low;
    scales->x_span = fmax(high - low, 1e-9);
}

double chart_ceiling(double value)
{
    static const double steps[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    double power;

    if (!(value > 0.0) || !isfinite(value))
        return 1.0;
    power = pow(10.0, floor(log10(value)));
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (steps[i] * power >= value * (1.0 - 1e-9))
            return steps[i] * power;
    }
    return 10.0 * power;
}

static bool is_drawable(const struct chart *chart, const struct chart_point *point)
{
    return isfinite(point->y) && isfinite(point->x) &&
           (chart->kind != CHART_SIZES || point->x >= 1.0);
}

static void put_grid_line(struct html *out, double x1, double y1, double x2, double y2)
{
    html_rawf(out,
              "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
              x1, y1, x2, y2);
}

/* Large values in thousands, millions and so on, since there is little room. */
static void put_value(struct html *out, double value)
{
    static const char suffixes[] = {'k', 'M', 'G', 'T', 'P'};
    double magnitude = fabs(value);

    if (magnitude < 1e4) {
        html_rawf(out, "%.6g", value);
        return;
    }
    for (size_t i = 0; i < sizeof(suffixes); i++) {
        value /= 1e3;
        magnitude /= 1e3;
        if (magnitude < 1e3 || i + 1 == sizeof(suffixes)) {
            html_rawf(out, "%.4g%c", value, suffixes[i]);
            return;
        }
    }
}

static void put_rows(const struct scales *scales, struct html *out)
{
    const struct chart *chart = scales->chart;
    for (int i = 0; i <= 5; i++) {
        double value = chart->y_min + (chart->y_max - chart->y_min) * i / 5.0;
        double y = y_of(scales, value);

        put_grid_line(out, LEFT, y, WIDTH - RIGHT, y);
        html_rawf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 7,
                  y + 4.0);
        put_value(out, value);
        html_raw(out, "</text>");
    }
}

static void put_columns_of_sizes(const struct scales *scales, struct html *out)
{
    double high = scales->x_low + scales->x_span;
    int stride = (int)ceil(TICK_ROOM * scales->x_span / PLOT_WIDTH);
    int first = (int)ceil(scales->x_low - 1e-9);
    char text[HTML_NUMBER_MAX];

    if (stride < 1)
        stride = 1;
    for (int power = (first + stride - 1) / stride * stride; power <= high + 1e-9;
         power += stride) {
        double x = x_of(scales, exp2(power));

        put_grid_line(out, x, TOP, x, TOP + PLOT_HEIGHT);
        html_rawf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>", x,
                  TOP + PLOT_HEIGHT + 18, html_size(exp2(power), text));
    }
}

static void put_columns_of_cases(const struct scales *scales, struct html *out)
{
    int last = (int)scales->chart->x_max;
    int stride = 1 + last / 20;

    for (int i = (int)scales->chart->x_min; i <= last; i += stride)
        html_rawf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>",
                  x_of(scales, i), TOP + PLOT_HEIGHT + 18, i);
}

static void put_frame(const struct scales *scales, struct html *out)
{
    const struct chart *chart = scales->chart;

    html_rawf(out, "<text class=\"axis\" x=\"%d\" y=\"18\">", LEFT);
    html_short(out, chart->y_name, 90);
    html_raw(out, "</text>");
    put_rows(scales, out);
    if (chart->kind == CHART_SIZES)
        put_columns_of_sizes(scales, out);
    else
        put_columns_of_cases(scales, out);
    if (chart->mark) {
        html_rawf(out,
                  "<text class=\"mark\" x=\"%d\" y=\"%d\" text-anchor=\"middle\" "
                  "transform=\"rotate(-18 %d %d)\">",
                  LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT / 2, LEFT + PLOT_WIDTH / 2,
                  TOP + PLOT_HEIGHT / 2);
        html_text(out, chart->mark);
        html_raw(out, "</text>");
    }
}

/* One place of a line as drawn: a point, or all those that share a column of the plot. */
struct place {
    double x, y, low, high; /* in the drawing; low is the smaller y, which is above */
    size_t point;           /* a real one of them */
};

/* Gather the line's places; returns how many. Of a thinned column, the line passes
 * through the value that lies farthest from the last one, so that peaks stay. */
static size_t gather(const struct scales *scales, const struct chart_line *line,
                     bool is_thinned, struct place *places)
{
    size_t n = 0;

    for (size_t i = 0; i < line->n_points; i++) {
        const struct chart_point *point = &line->points[i];
        struct place *last = n ? &places[n - 1] : NULL;
        double x, y;

        if (!is_drawable(scales->chart, point))
            continue;
        x = x_of(scales, point->x);
        y = y_of(scales, point->y);
        if (is_thinned && last && floor(x) <= floor(last->x)) {
            if (n > 1 && fabs(y - places[n - 2].y) > fabs(last->y - places[n - 2].y))
                last->y = y;
            last->low = fmin(last->low, y_of(scales, point->hi));
            last->high = fmax(last->high, y_of(scales, point->lo));
            continue;
        }
        places[n++] =
            (struct place){x, y, y_of(scales, point->hi), y_of(scales, point->lo), i};
    }
    return n;
}

static void put_band(const struct chart_line *line, const struct place *places, size_t n,
                     struct html *out)
{
    html_rawf(out, "<polygon class=\"band s%zu\" points=\"", line->look % COLOURS);
    for (size_t i = 0; i < n; i++)
        html_rawf(out, "%.1f,%.1f ", places[i].x, places[i].low);
    for (size_t i = n; i-- > 0;)
        html_rawf(out, "%.1f,%.1f ", places[i].x, places[i].high);
    html_raw(out, "\"/>");
}

static const char *dash_of(size_t look, bool is_hollow)
{
    static const char *const rounds[] = {"", " stroke-dasharray=\"2 3\"",
                                         " stroke-dasharray=\"10 3 2 3\""};

    return is_hollow ? " stroke-dasharray=\"6 4\"" : rounds[look / COLOURS % 3];
}

static void put_path(const struct chart_line *line, const struct place *places, size_t n,
                     struct html *out)
{
    html_rawf(out, "<polyline class=\"line s%zu\"%s points=\"", line->look % COLOURS,
              dash_of(line->look, line->is_hollow));
    for (size_t i = 0; i < n; i++)
        html_rawf(out, "%.1f,%.1f ", places[i].x, places[i].y);
    html_raw(out, "\"/>");
}

/* A pair's shape about (x, y): circle, square, triangle, diamond, cross. */
static void put_shape(size_t look, const char *class_name, double x, double y, double r,
                      struct html *out)
{
    html_rawf(out, "<path class=\"%s s%zu\" d=\"M", class_name, look % COLOURS);
    switch (look % 5) {
    case 0:
        html_rawf(out, "%.1f %.1fa%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 %.1f 0z", x - r,
                  y, r, r, 2 * r, r, r, -2 * r);
        break;
    case 1:
        html_rawf(out, "%.1f %.1fh%.1fv%.1fh%.1fz", x - r, y - r, 2 * r, 2 * r, -2 * r);
        break;
    case 2:
        html_rawf(out, "%.1f %.1fl%.1f %.1fh%.1fz", x, y - 1.2 * r, 1.15 * r, 2.1 * r,
                  -2.3 * r);
        break;
    case 3:
        html_rawf(out, "%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz", x, y - 1.35 * r,
                  1.35 * r, 1.35 * r, -1.35 * r, 1.35 * r, -1.35 * r, -1.35 * r);
        break;
    default:
        html_rawf(out, "%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f", x - r, y - r, 2 * r, 2 * r,
                  -2 * r, -2 * r, 2 * r);
        break;
    }
    html_raw(out, "\"/>");
}

static void put_point(const struct chart_line *line, const struct place *place,
                      struct html *out)
{
    const struct chart_point *point = &line->points[place->point];

    html_raw(out, "<g>");
    if (line->tip) {
        html_raw(out, "<title>");
        line->tip(line->data, place->point, out);
        html_raw(out, "</title>");
    }
    put_shape(line->look, line->is_hollow ? "point hollow" : "point", place->x, place->y,
              RADIUS, out);
    if (point->is_wrong)
        html_rawf(out, "<circle class=\"alarm\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\"/>",
                  place->x, place->y);
    html_raw(out, "</g>");
}

static void put_bars(const struct chart_line *line, const struct place *places, size_t n,
                     struct html *out)
{
    for (size_t i = 0; i < n; i++)
        html_rawf(out, "<path class=\"bar s%zu\" d=\"M%.1f %.1fV%.1f\"/>",
                  line->look % COLOURS, places[i].x, places[i].low, places[i].high);
}

static void put_points(const struct chart_line *line, const struct place *places,
                       size_t n, bool is_thinned, struct html *out)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_thinned || line->points[places[i].point].is_wrong)
            put_point(line, &places[i], out);
    }
}

static void put_line(const struct scales *scales, const struct chart_line *line,
                     struct html *out)
{
    bool is_thinned = line->n_points > MARKED_POINTS_MAX;
    struct place *places = calloc(line->n_points ? line->n_points : 1, sizeof(*places));
    size_t n;

    if (!places) {
        out->is_failed = true;
        return;
    }
    n = gather(scales, line, is_thinned, places);
    if (scales->chart->kind == CHART_CASES) {
        put_bars(line, places, n, out);
    } else if (n > 1) {
        put_band(line, places, n, out);
        put_path(line, places, n, out);
    }
    put_points(line, places, n, is_thinned, out);
    free(places);
}

void chart_svg(const struct chart *chart, struct html *out)
{
    struct scales scales;

    scales_init(&scales, chart);
    html_rawf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
              HEIGHT);
    html_text(out, chart->title);
    html_raw(out, "\">");
    put_frame(&scales, out);
    for (size_t i = 0; i < chart->n_lines; i++)
        put_line(&scales, &chart->lines[i], out);
    html_raw(out, "</svg>\n");
}

void chart_glyph(size_t look, bool is_hollow, struct html *out)
{
    html_rawf(out,
              "<svg class=\"glyph\" viewBox=\"0 0 34 12\" aria-hidden=\"true\">"
              "<path class=\"line s%zu\"%s d=\"M1 6h32\"/>",
              look % COLOURS, dash_of(look, is_hollow));
    put_shape(look, is_hollow ? "point hollow" : "point", 17.0, 6.0, RADIUS, out);
    html_raw(out, "</svg>");
}
