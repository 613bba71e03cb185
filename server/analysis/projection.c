/* projection.c - what a collective would take on more nodes than were measured */
#include "server/analysis/projection.h"

#include <assert.h>
#include <math.h>

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

/* Terms as parts of the time that their sum is to meet: a f + b g should be 1. */
struct pair {
    double f, g;
};

struct fit {
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

static struct sums sums_of(const struct pair *pairs, size_t n)
{
    struct sums sums = {0};

    for (size_t i = 0; i < n; i++) {
        sums.ff += pairs[i].f * pairs[i].f;
        sums.fg += pairs[i].f * pairs[i].g;
        sums.gg += pairs[i].g * pairs[i].g;
        sums.f += pairs[i].f;
        sums.g += pairs[i].g;
    }
    return sums;
}

/* Least squares of relative errors; no part of a time is below 0: then the other term
 * alone, whichever leaves less. */
static struct fit fit_pairs(const struct pair *pairs, size_t n)
{
    struct sums s = sums_of(pairs, n);
    double determinant = s.ff * s.gg - s.fg * s.fg;
    struct fit fit = {.sums = s};

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

/* By how much of it the fit is off a time. */
static double off(const struct fit *fit, const struct pair *pair)
{
    return fabs(fit->a * pair->f + fit->b * pair->g - 1);
}

static double noise_of(const struct fit *fit, const struct pair *pairs, size_t n)
{
    double squares = 0;

    for (size_t i = 0; i < n; i++)
        squares += off(fit, &pairs[i]) * off(fit, &pairs[i]);
    return fmax(NOISE_MIN, n > 2 ? sqrt(squares / (double)(n - 2)) : 0);
}

/* Where the time of these terms lies if the points' noise is what the fit leaves. */
static void range_of(const struct fit *fit, double noise, const struct pair *at,
                     double *low, double *high)
{
    double f = at->f, g = at->g;
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

static size_t passed_over(const struct projection_question *question)
{
    size_t n = 0;

    while (n < question->n_points && question->points[n].nodes < PROJECTION_NODES_MIN)
        n++;
    return n;
}

/* The form's terms on each count that is used; how many these are. */
static size_t pairs_of(const struct projection_question *question,
                       const struct form *form, struct pair out[PROJECTION_COUNTS_MAX])
{
    size_t n = 0;

    for (size_t i = passed_over(question);
         i < question->n_points && n < PROJECTION_COUNTS_MAX; i++) {
        const struct projection_point *at = &question->points[i];

        out[n++] =
            (struct pair){value_of(form->terms[0], at->nodes, at->ranks) / at->time_us,
                          value_of(form->terms[1], at->nodes, at->ranks) / at->time_us};
    }
    return n;
}

static double error_of(const struct projection_question *question,
                       const struct form *form)
{
    struct pair pairs[PROJECTION_COUNTS_MAX];
    size_t n = pairs_of(question, form, pairs);
    struct fit fit;

    assert(n >= PROJECTION_COUNTS_MIN); /* else it was refused */
    fit = fit_pairs(pairs, n - 1);
    return off(&fit, &pairs[n - 1]);
}

void projection_at(const struct projection_question *question, size_t nodes, size_t ranks,
                   struct projection *out)
{
    double errors[FORMS], low = HUGE_VAL, high = 0;
    size_t best = 0;

    for (size_t i = 0; i < FORMS; i++) {
        errors[i] = error_of(question, &forms[i]);
        best = errors[i] < errors[best] ? i : best;
    }
    for (size_t i = 0; i < FORMS; i++) {
        struct pair pairs[PROJECTION_COUNTS_MAX];
        size_t n = pairs_of(question, &forms[i], pairs);
        struct fit fit = fit_pairs(pairs, n);
        struct pair at = {value_of(forms[i].terms[0], nodes, ranks),
                          value_of(forms[i].terms[1], nodes, ranks)};
        double from, to;

        if (i == best)
            out->time_us = fit.a * at.f + fit.b * at.g;
        if (errors[i] > errors[best] + AS_GOOD)
            continue;
        range_of(&fit, noise_of(&fit, pairs, n), &at, &from, &to);
        low = fmin(low, from);
        high = fmax(high, to);
    }
    out->form = forms[best].text;
    out->error = errors[best];
    out->low_us = fmin(low, out->time_us * (1 - out->error));
    out->high_us = fmax(high, out->time_us * (1 + out->error));
}

/* ---- Whether it is one algorithm ---- */

/* Which algorithm is the fastest is a matter of what a node has of the bytes, or of the
 * bytes. So what this size does on more nodes, the largest count does with less of it,
 * and what it did on fewer, with more: if these sizes' times there are a straight line,
 * no other algorithm begins in between. */
static enum projection_answer look_along(const struct projection_question *question,
                                         struct projection *out)
{
    const struct projection_point *points = question->points;
    double largest = (double)points[question->n_points - 1].nodes;
    struct pair pairs[PROJECTION_COUNTS_MAX];
    struct fit fit;
    size_t n = 0;

    out->size_from = (double)question->size * fmin(1, largest / (double)question->nodes);
    out->size_to =
        (double)question->size * largest / (double)points[passed_over(question)].nodes;
    for (size_t i = 0; i < question->n_curve && n < PROJECTION_COUNTS_MAX; i++) {
        const struct case_point *at = &question->curve[i];

        if ((double)at->size >= out->size_from && (double)at->size <= out->size_to)
            pairs[n++] = (struct pair){1 / at->time_us, (double)at->size / at->time_us};
    }
    if (n < PROJECTION_SIZES_MIN)
        return PROJECTION_ALONE;
    fit = fit_pairs(pairs, n);
    for (size_t i = 0; i < n; i++)
        if (off(&fit, &pairs[i]) > PROJECTION_BEND_MAX)
            return PROJECTION_BENT;
    return PROJECTION_DONE;
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

static enum projection_answer project(const struct projection_question *question,
                                      struct projection *out)
{
    projection_at(question, question->nodes, question->ranks, out);
    if (out->error > PROJECTION_ERROR_MAX)
        return PROJECTION_OFF;
    if (out->high_us > PROJECTION_WIDTH_MAX * out->low_us)
        return PROJECTION_WIDE;
    return look_along(question, out);
}

void projection_make(const struct projection_question *question, struct projection *out)
{
    size_t n = question->n_points;
    size_t largest = n > 0 ? question->points[n - 1].nodes : 0;

    *out = (struct projection){.measure = next_count(largest, question->nodes)};
    if (question->nodes > PROJECTION_FACTOR_MAX * largest) {
        out->answer = PROJECTION_FAR;
        out->measure = eighth(question->nodes);
    } else if (n - passed_over(question) < PROJECTION_COUNTS_MIN) {
        out->answer = PROJECTION_FEW;
    } else {
        out->answer = project(question, out);
    }
}
