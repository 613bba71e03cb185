/* projection.c - a collective's time fitted over node counts and sizes, and its interval
 *
 * Sources: the terms are those of NCCL's cost model (src/graph/tuning.cc, 2.28) and of
 * Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19 (2005); the
 * share of the bytes that passes a link is nccl-tests' bus bandwidth factor
 * (doc/PERFORMANCE.md). The sweep is Goodnight's, The American Statistician 33 (1979). */
#include "server/analysis/projection.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "server/analysis/stats.h"

#define PIVOT_MIN 1e-10 /* of 1: less is lost in rounding */
#define CONFIDENCE_TAIL 0.975
#define SIZE_PART 0.25 /* down to it the fit uses sizes anyway */

enum term {
    TERM_CONSTANT,
    TERM_HOPS,
    TERM_LEVELS,
    TERM_BYTES,
    TERM_CONGESTION,
    TERM_TIME, /* the measured time, which the others add up to */
    TERMS
};

typedef double equations[TERMS][TERMS];

/* Bytes that the busiest link carries, as a multiple of the size. Where each rank sends
 * to all others directly, the bytes for the ranks of its own node stay inside. */
static double link_share(enum collective_kind kind, size_t nodes, size_t ranks)
{
    switch (kind) {
    case COLLECTIVE_ALLTOALL:
    case COLLECTIVE_ALLTOALLV:
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SCATTER:
        return (double)(nodes - 1) / (double)nodes;
    default:
        return collective_bus_factor(kind, (int)ranks);
    }
}

static void terms_of(const struct projection_question *question,
                     const struct projection_point *at, double terms[TERMS])
{
    double bytes = (double)at->size * link_share(question->kind, at->nodes, at->ranks);
    double levels = log2((double)at->nodes);

    terms[TERM_CONSTANT] = 1;
    terms[TERM_HOPS] = (double)(at->nodes - 1);
    terms[TERM_LEVELS] = levels;
    terms[TERM_BYTES] = bytes;
    terms[TERM_CONGESTION] = bytes * levels;
    terms[TERM_TIME] = at->time_us;
}

/* Add the points of one node count to the normal equations. Errors are relative to the
 * time. Half of their variance is taken to be shared by all sizes of a node count, whose
 * cases share nodes and minutes: the inverse of I + J is I - J / (n + 1). */
static void add_count(const struct projection_question *question,
                      const struct projection_point *points, size_t n, equations fit,
                      struct projection *out)
{
    double total[TERMS] = {0}, terms[TERMS];
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        double size = (double)points[i].size;

        if (size < out->size_from || size > out->size_to)
            continue;
        terms_of(question, &points[i], terms);
        for (int a = 0; a < TERMS; a++)
            terms[a] /= points[i].time_us;
        for (int a = 0; a < TERMS; a++) {
            total[a] += terms[a];
            for (int b = 0; b < TERMS; b++)
                fit[a][b] += terms[a] * terms[b];
        }
        used++;
    }
    for (int a = 0; a < TERMS; a++)
        for (int b = 0; b < TERMS; b++)
            fit[a][b] -= total[a] * total[b] / (double)(used + 1);
    out->n_counts += used > 0;
    out->n_rows += used;
    out->n_sizes = used; /* the largest count's is the last */
}

/* Sweep the terms out of the normal equations, which leaves their inverse, the factors in
 * the last column, and the squared residuals' sum in the last diagonal element. False if
 * the points can't tell a term from the others. */
static bool sweep(equations fit)
{
    double before[TERMS];

    for (int k = 0; k < TERMS; k++)
        before[k] = fit[k][k];
    for (int k = 0; k < TERM_TIME; k++) {
        double pivot = fit[k][k];

        if (!(pivot > PIVOT_MIN * before[k]))
            return false;
        fit[k][k] = 1;
        for (int b = 0; b < TERMS; b++)
            fit[k][b] /= pivot;
        for (int a = 0; a < TERMS; a++) {
            double factor = fit[a][k];

            if (a == k)
                continue;
            fit[a][k] = 0;
            for (int b = 0; b < TERMS; b++)
                fit[a][b] -= factor * fit[k][b];
        }
    }
    return true;
}

static struct projection_point fit_at(const struct projection_question *question,
                                      const struct projection *made, equations fit,
                                      size_t nodes)
{
    struct projection_point at = {.nodes = nodes,
                                  .ranks = question->ranks * nodes / question->nodes,
                                  .size = question->size};
    double terms[TERMS], variance = 0, half;

    terms_of(question, &at, terms);
    for (int a = 0; a < TERM_TIME; a++) {
        at.time_us += fit[a][TERM_TIME] * terms[a];
        for (int b = 0; b < TERM_TIME; b++)
            variance += terms[a] * fit[a][b] * terms[b];
    }
    variance += at.time_us * at.time_us; /* the scatter of a run on so many nodes */
    half = made->noise * sqrt(variance) *
           stats_t_quantile(CONFIDENCE_TAIL, (double)(made->n_rows - TERM_TIME));
    at.low_us = at.time_us - half;
    at.high_us = at.time_us + half;
    return at;
}

/* Which algorithm is the fastest follows from the bytes, or from a node's share of them.
 * So the size on more nodes resembles a fraction of it on the largest measured count, and
 * on the smallest count a multiple: the fit uses the sizes in between. */
static enum projection_answer judge(const struct projection_question *question,
                                    struct projection *out)
{
    const struct projection_point *points = question->points;
    size_t n = question->n_points, first = 0, end;
    double largest = (double)points[n - 1].nodes, size = (double)question->size;
    equations fit = {{0}};

    while (first < n && points[first].nodes < PROJECTION_NODES_MIN)
        first++;
    out->size_from = size * fmin(SIZE_PART, largest / (double)question->nodes);
    out->size_to = first < n ? size * largest / (double)points[first].nodes : size;
    for (size_t i = first; i < n; i = end) {
        for (end = i; end < n && points[end].nodes == points[i].nodes;)
            end++;
        add_count(question, &points[i], end - i, fit, out);
    }
    if (out->n_counts < PROJECTION_COUNTS_MIN || out->n_sizes < PROJECTION_SIZES_MIN ||
        out->n_rows <= TERM_TIME || !sweep(fit))
        return PROJECTION_FEW;
    out->noise = fmax(PROJECTION_NOISE_MIN, sqrt(fmax(0, fit[TERM_TIME][TERM_TIME]) /
                                                 (double)(out->n_rows - TERM_TIME)));
    for (size_t nodes = question->nodes; nodes >= PROJECTION_NODES_MIN || !out->n_model;
         nodes /= 2) {
        assert(out->n_model < PROJECTION_MODEL_MAX);
        out->model[out->n_model++] = fit_at(question, out, fit, nodes);
    }
    return out->model[0].high_us <= PROJECTION_WIDTH_MAX * out->model[0].low_us
               ? PROJECTION_DONE
               : PROJECTION_WIDE;
}

/* The count that helps most: within reach, or between the two largest if there are too
 * few counts, or twice the largest. */
static size_t next_count(const struct projection_question *question,
                         const struct projection *made)
{
    const struct projection_point *points = question->points;
    size_t i = question->n_points - 1, largest = points[i].nodes;
    size_t reach = (question->nodes + PROJECTION_FACTOR_MAX - 1) / PROJECTION_FACTOR_MAX;

    if (made->answer == PROJECTION_FAR || largest < PROJECTION_NODES_MIN)
        return reach > PROJECTION_NODES_MIN ? reach : PROJECTION_NODES_MIN;
    while (i > 0 && points[i].nodes == largest)
        i--;
    if (made->answer == PROJECTION_FEW && made->n_counts < PROJECTION_COUNTS_MIN &&
        points[i].nodes >= PROJECTION_NODES_MIN && points[i].nodes + 2 <= largest)
        return (points[i].nodes + largest) / 2;
    return 2 * largest;
}

void projection_make(const struct projection_question *question, struct projection *out)
{
    size_t largest = question->points[question->n_points - 1].nodes;

    *out = (struct projection){0};
    out->answer = question->nodes > PROJECTION_FACTOR_MAX * largest
                      ? PROJECTION_FAR
                      : judge(question, out);
    out->measure = next_count(question, out);
}
