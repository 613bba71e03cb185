/* svg_chart.h - a chart as static SVG inside a page. Colours come from the page's style
 * by class (s0 to s6, in Okabe and Ito's palette), so that they follow its theme; shapes
 * and dashes say the same without colour. */
#ifndef RINGBENCH_SERVER_REPORT_SVG_CHART_H
#define RINGBENCH_SERVER_REPORT_SVG_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "server/report/html_text.h"

struct chart_point {
    double x, y;
    double lo, hi; /* of the band; both y: none */
    bool is_wrong; /* drawn as an alarm */
};

struct chart_line {
    size_t look;                      /* lines with the same number are a pair */
    bool is_hollow;                   /* the pair's second: dashed, with hollow points */
    const struct chart_point *points; /* by rising x */
    size_t n_points;
    /* What the pointer shows over a point, as text; `data` goes to it. */
    void (*tip)(const void *data, size_t point, struct html *out);
    const void *data;
};

enum chart_kind {
    CHART_SIZES, /* x in bytes, logarithmic; lines with bands */
    CHART_CASES  /* x is 0, 1, ...; a point and a bar from lo to hi at each */
};

struct chart {
    enum chart_kind kind;
    const char *title; /* for who can't see it */
    const char *y_name;
    const char *mark; /* written across, or NULL: "simulated" */
    double x_min, x_max;
    double y_min, y_max;
    const struct chart_line *lines;
    size_t n_lines;
};

/* Points without a finite y, or of a size below 1, are left out. */
void chart_svg(const struct chart *chart, struct html *out);

/* A piece of the line with its point, for a legend. */
void chart_glyph(size_t look, bool is_hollow, struct html *out);

/* The next of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 times a power of ten; 1 for what is
 * not above 0. */
double chart_ceiling(double value);

#endif
