/* projection.c - what a collective would take on more nodes than were measured */
#include "server/analysis/projection.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* What a time may be made of, by the cost models of NCCL's algorithms
 * (src/graph/tuning.cc of 2.28): a constant, a hop for each node (ring), a hop for each
 * level (tree), and bytes of which each rank moves (n-1)/n of n ranks; in an alltoall as
 * much of n nodes leaves its node. */
enum term { TERM_CONSTANT, TERM_NODES, TERM_LEVELS, TERM_BYTES, TERM_AWAY };

static const struct form {
    enum term terms[2];
    const char *text;
} forms[] = {
    {{TERM_CONSTANT, TERM_NODES}, "a + b nodes"},
    {{TERM_CONSTANT, TERM_LEVELS}, "a + b log2(nodes)"},
    {{TERM_CONSTANT, TERM_BYTES}, "a + b (ranks-1)/ranks"},
    {{TERM_NODES, TERM_BYTES}, "a nodes + b (ranks-1)/ranks"},
    {{TERM_LEVELS, TERM_BYTES}, "a log2(nodes) + b (ranks-1)/ranks"},
    {{TERM_CONSTANT, TERM_AWAY}, "a + b (nodes-1)/nodes"},
    {{TERM_NODES, TERM_AWAY}, "a nodes + b (nodes-1)/nodes"},
};

#define FORMS (sizeof(forms) / sizeof(forms[0]))

/* Others that tell the largest count as well, but for what cases differ by, are as good
 * a guess. */
#define AS_GOOD 0.03

#define NOISE_MIN 0.01 /* what cases differ by at least */
#define ERRORS 2       /* standard errors to either side */

struct fit {
    const struct form *form;
    double a, b;
    /* Before a term that came out below 0 was left out: a hop that is 3 % of a time on 32
     * nodes is lost in the noise there, and 11 % of it on 128. */
    double free_a, free_b, determinant;
    struct sums {
        double ff, fg, gg, f, g; /* of relative errors' normal equations */
    } sums;
};

static double value_of(enum term term, size_t nodes, size_t ranks)
{
    switch (term) {
    case TERM_NODES:
        return (double)nodes;
    case TERM_LEVELS:
        return floor(log2((double)nodes) + 1e-9);
    case TERM_BYTES:
        return (double)(ranks - 1) / (double)ranks;
    case TERM_AWAY:
        return (double)(nodes - 1) / (double)nodes;
    default:
        return 1;
    }
}

static double time_of(const struct fit *fit, size_t nodes, size_t ranks)
{
    return fit->a * value_of(fit->form->terms[0], nodes, ranks) +
           fit->b * value_of(fit->form->terms[1], nodes, ranks);
}

static struct sums sums_of(const struct form *form, const struct projection_point *points,
                           size_t n)
{
    struct sums sums = {0};

    for (size_t i = 0; i < n; i++) {
        const struct projection_point *at = &points[i];
        double f = value_of(form->terms[0], at->nodes, at->ranks) / at->time_us;
        double g = value_of(form->terms[1], at->nodes, at->ranks) / at->time_us;

        sums.ff += f * f;
        sums.fg += f * g;
        sums.gg += g * g;
        sums.f += f;
        sums.g += g;
    }
    return sums;
}

/* Least squares of relative errors; no part of a time is below 0: then the other term
 * alone, whichever leaves less. */
static struct fit fit_form(const struct form *form, const struct projection_point *points,
                           size_t n)
{
    struct sums s = sums_of(form, points, n);
    double determinant = s.ff * s.gg - s.fg * s.fg;
    struct fit fit = {.form = form, .sums = s};

    if (determinant > 1e-9 * s.ff * s.gg) {
        fit.determinant = determinant;
        fit.free_a = fit.a = (s.f * s.gg - s.g * s.fg) / determinant;
        fit.free_b = fit.b = (s.g * s.ff - s.f * s.fg) / determinant;
        if (fit.a >= 0 && fit.b >= 0)
            return fit;
    }
    fit.a = s.f * s.f / s.ff > s.g * s.g / s.gg ? s.f / s.ff : 0;
    fit.b = fit.a > 0 ? 0 : s.g / s.gg;
    return fit;
}

static double noise_of(const struct fit *fit, const struct projection_point *points,
                       size_t n)
{
    double squares = 0;

    for (size_t i = 0; i < n; i++) {
        double error =
            time_of(fit, points[i].nodes, points[i].ranks) / points[i].time_us - 1;

        squares += error * error;
    }
    return fmax(NOISE_MIN, n > 2 ? sqrt(squares / (double)(n - 2)) : 0);
}

/* Where the time lies if the points' noise is what the fit leaves. */
static void range_of(const struct fit *fit, double noise, size_t nodes, size_t ranks,
                     double *low, double *high)
{
    double f = value_of(fit->form->terms[0], nodes, ranks);
    double g = value_of(fit->form->terms[1], nodes, ranks);
    double time = fit->a * f + fit->b * g, middle = time, width = noise * time;
    const struct sums *s = &fit->sums;

    if (fit->determinant > 0) {
        middle = fit->free_a * f + fit->free_b * g;
        width = noise * sqrt(fmax(0, f * f * s->gg - 2 * f * g * s->fg + g * g * s->ff) /
                             fit->determinant);
    }
    *low = fmax(0, fmin(time, middle - ERRORS * width));
    *high = fmax(time, middle + ERRORS * width);
}

/* ---- The best of them, and those as good ---- */

static double error_of(const struct form *form, const struct projection_point *points,
                       size_t n)
{
    const struct projection_point *last = &points[n - 1];
    struct fit fit = fit_form(form, points, n - 1);

    return fabs(time_of(&fit, last->nodes, last->ranks) / last->time_us - 1);
}

static void project(const struct projection_point *points, size_t n, size_t nodes,
                    size_t ranks, struct projection *out)
{
    double errors[FORMS], low = HUGE_VAL, high = 0;
    size_t best = 0;

    for (size_t i = 0; i < FORMS; i++) {
        errors[i] = error_of(&forms[i], points, n);
        best = errors[i] < errors[best] ? i : best;
    }
    for (size_t i = 0; i < FORMS; i++) {
        struct fit fit = fit_form(&forms[i], points, n);
        double from, to;

        if (i == best)
            out->time_us = time_of(&fit, nodes, ranks);
        if (errors[i] > errors[best] + AS_GOOD)
            continue;
        range_of(&fit, noise_of(&fit, points, n), nodes, ranks, &from, &to);
        low = fmin(low, from);
        high = fmax(high, to);
    }
    out->form = forms[best].text;
    out->error = errors[best];
    out->low_us = fmin(low, out->time_us * (1 - out->error));
    out->high_us = fmax(high, out->time_us * (1 + out->error));
}

static size_t eighth(size_t nodes)
{
    size_t n = (nodes + PROJECTION_FACTOR_MAX - 1) / PROJECTION_FACTOR_MAX;

    return n < PROJECTION_NODES_MIN ? PROJECTION_NODES_MIN : n;
}

/* Of which nothing is known between what there is and what is asked. */
static size_t next_count(size_t largest, size_t nodes)
{
    size_t twice = 2 * largest;

    if (largest < PROJECTION_NODES_MIN)
        return eighth(nodes) > 4 ? eighth(nodes) : 4;
    return twice < nodes ? twice : nodes;
}

void projection_make(const struct projection_point *points, size_t n, size_t nodes,
                     size_t ranks, struct projection *out)
{
    size_t largest = n > 0 ? points[n - 1].nodes : 0;

    *out = (struct projection){.answer = PROJECTION_DONE};
    while (n > 0 && points->nodes < PROJECTION_NODES_MIN)
        points++, n--;
    if (nodes > PROJECTION_FACTOR_MAX * largest) {
        out->answer = PROJECTION_FAR;
        out->measure = eighth(nodes);
    } else if (n < PROJECTION_COUNTS_MIN) {
        out->answer = PROJECTION_FEW;
        out->measure = next_count(largest, nodes);
    } else {
        project(points, n, nodes, ranks, out);
        if (out->error <= PROJECTION_ERROR_MAX)
            return;
        out->answer = PROJECTION_OFF;
        out->measure = next_count(largest, nodes);
    }
}
