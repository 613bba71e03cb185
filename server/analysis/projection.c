/* SPDX-License-Identifier: Apache-2.0 */
/* projection.c - fits the time of a collective as a function of node count and size, and
 * computes an interval
 *
 * Sources: the terms are those of NCCL's cost model (src/graph/tuning.cc, 2.28) and of
 * Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19 (2005). The
 * share of the bytes on a link is nccl-tests' bus bandwidth factor (doc/PERFORMANCE.md).
 * The sweep is described by Goodnight, The American Statistician 33 (1979). */
#include "server/analysis/projection.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/stats.h"
#include "server/finding/finding.h"

/* The terms of the model: a constant, hops, levels, bytes and congestion. Index TERM_TIME
 * holds the time, which is the sum of the terms. */
enum { TERM_TIME = 5, TERMS };

/* Return the bytes on the busiest link as a multiple of the size. If each rank sends
 * directly to all others, the bytes between ranks of a node do not use that link. */
static double link_share(enum collective_kind kind, size_t nodes, size_t ranks)
{
    bool is_direct = kind == COLLECTIVE_ALLTOALL || kind == COLLECTIVE_ALLTOALLV ||
                     kind == COLLECTIVE_GATHER || kind == COLLECTIVE_SCATTER;

    return is_direct ? (double)(nodes - 1) / (double)nodes
                     : collective_bus_factor(kind, (int)ranks);
}

/* Compute the terms, divided by `unit`. */
static void terms_of(const struct projection_question *question,
                     const struct projection_point *at, double unit, double terms[TERMS])
{
    double bytes = (double)at->size * link_share(question->kind, at->nodes, at->ranks);
    double levels = log2((double)at->nodes), hops = (double)(at->nodes - 1);
    const double values[TERMS] = {1, hops, levels, bytes, bytes * levels, at->time_us};

    for (int i = 0; i < TERMS; i++)
        terms[i] = values[i] / unit;
}

/* Add the points of one node count, which begin at `at`, to the normal equations. Errors
 * are relative to the time. All sizes of a node count are assumed to share half of the
 * variance, because their cases share nodes and minutes. The inverse of I + J is I - J /
 * (n + 1). Returns the first point of the next node count. */
static const struct projection_point *
add_count(const struct projection_question *question, const struct projection_point *at,
          double fit[TERMS][TERMS], struct projection *out)
{
    const struct projection_point *end = question->points + question->n_points;
    size_t used = 0, nodes = at->nodes;
    double total[TERMS] = {0}, terms[TERMS];

    for (; at < end && at->nodes == nodes; at++) {
        if ((double)at->size < out->size_from || (double)at->size > out->size_to)
            continue;
        terms_of(question, at, at->time_us, terms);
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
    /* After the last call, the number of sizes of the largest node count */
    out->n_sizes = used;
    return at;
}

/* Sweep out the terms. The matrix then contains their covariance, the factors in the last
 * column, and the sum of squared residuals in the last element. Returns false if the
 * points do not determine the terms. */
static bool sweep(double fit[TERMS][TERMS])
{
    for (int k = 0; k < TERM_TIME; k++) {
        double pivot = fit[k][k];

        if (!(pivot > 0))
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

static void fit_at(const struct projection_question *question, double fit[TERMS][TERMS],
                   struct projection *out)
{
    struct projection_point *at = &out->at;
    double terms[TERMS], variance = 0, half;

    *at = (struct projection_point){
        .nodes = question->nodes, .ranks = question->ranks, .size = question->size};
    terms_of(question, at, 1, terms);
    for (int a = 0; a < TERM_TIME; a++) {
        at->time_us += fit[a][TERM_TIME] * terms[a];
        for (int b = 0; b < TERM_TIME; b++)
            variance += terms[a] * fit[a][b] * terms[b];
    }
    /* scatter of a single run on this number of nodes */
    variance += at->time_us * at->time_us;
    half = out->noise * sqrt(variance) *
           stats_t_quantile(0.975, (double)(out->n_rows - TERM_TIME));
    at->low_us = at->time_us - half;
    at->high_us = at->time_us + half;
}

/* Choose the sizes, fit them, and decide if the projection is accurate enough. The
 * fastest algorithm depends on the bytes, or on a node's share of the bytes. A size on
 * more nodes therefore resembles a smaller size on the largest measured count, and a
 * larger size on the smallest count. The fit uses the sizes in between. */
static enum message_id judge(const struct projection_question *question,
                             struct projection *out)
{
    const struct projection_point *at = question->points, *end = at + question->n_points;
    double largest = (double)end[-1].nodes, size = (double)question->size;
    double fit[TERMS][TERMS] = {{0}};

    while (at < end && at->nodes < PROJECTION_NODES_MIN)
        at++;
    out->size_from = size * fmin(PROJECTION_SIZE_PART, largest / (double)question->nodes);
    out->size_to = at < end ? size * largest / (double)at->nodes : size;
    while (at < end)
        at = add_count(question, at, fit, out);
    if (out->n_counts < PROJECTION_COUNTS_MIN)
        return MESSAGE_PROJECTION_FEW_COUNTS;
    if (out->n_sizes < PROJECTION_SIZES_MIN || out->n_rows <= TERM_TIME || !sweep(fit))
        return MESSAGE_PROJECTION_FEW_SIZES;
    out->noise = fmax(PROJECTION_NOISE_MIN, sqrt(fmax(0, fit[TERM_TIME][TERM_TIME]) /
                                                 (double)(out->n_rows - TERM_TIME)));
    fit_at(question, fit, out);
    return out->at.high_us <= PROJECTION_WIDTH_MAX * out->at.low_us
               ? MESSAGE_PROJECTED
               : MESSAGE_PROJECTION_WIDE;
}

void projection_make(const struct projection_question *question, struct projection *out)
{
    size_t largest = question->points[question->n_points - 1].nodes;
    size_t reach = (question->nodes + PROJECTION_FACTOR_MAX - 1) / PROJECTION_FACTOR_MAX;

    /* Suggest a node count from which the requested count can be projected, or twice the
     * largest count measured. */
    *out = (struct projection){.measure = reach > largest ? reach : 2 * largest};
    out->message = question->nodes > PROJECTION_FACTOR_MAX * largest
                       ? MESSAGE_PROJECTION_FAR
                       : judge(question, out);
}

static int compare_points(const void *a, const void *b)
{
    const struct projection_point *x = a, *y = b;

    double order = x->nodes != y->nodes ? (double)x->nodes - (double)y->nodes
                   : x->size != y->size ? (double)(x->size - y->size)
                                        : x->time_us - y->time_us;

    return (order > 0) - (order < 0);
}

/* Compute one point for each node count and size of the series. A point is the median
 * over cases. */
static size_t read_points(const struct compare_side *side, const char *identity,
                          struct projection_point *points)
{
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < side->n; i++) {
        const struct compare_choice *one = &side->cases[i];
        const struct case_series *series;
        size_t all;

        series = case_values_of(one->run->values, one->case_no, &all);
        series = case_series_find(series, all, identity);
        for (size_t k = 0; series && k < series->n_points; k++)
            points[n++] = (struct projection_point){.nodes = compare_choice_nodes(one),
                                                    .ranks = compare_choice_ranks(one),
                                                    .size = series->points[k].size,
                                                    .time_us = series->points[k].time_us};
    }
    qsort(points, n, sizeof(*points), compare_points);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && points[end].nodes == points[i].nodes &&
                      points[end].size == points[i].size;)
            end++;
        points[kept] = points[i];
        points[kept].time_us =
            (points[(i + end - 1) / 2].time_us + points[(i + end) / 2].time_us) / 2;
        points[kept].low_us = points[i].time_us;
        points[kept].high_us = points[end - 1].time_us;
        points[kept++].cases = end - i;
    }
    return kept;
}

static json_t *point_json(enum collective_kind kind, const struct projection_point *at)
{
    return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f}", "nodes", (json_int_t)at->nodes,
                     "cases", (json_int_t)at->cases, "time_us", at->time_us,
                     "time_low_us", at->low_us, "time_high_us", at->high_us, "busbw_gbs",
                     (double)at->size / at->time_us / 1e3 *
                         collective_bus_factor(kind, (int)at->ranks));
}

static json_t *verdict_of(const struct projection_question *asked,
                          const struct projection *made, const char *mark)
{
    struct finding finding = finding_begin();

    finding_put(&finding, "{s:O, s:I, s:I, s:I, s:I, s:f, s:I}", "$series", asked->key,
                "$size", (json_int_t)asked->size, "nodes", (json_int_t)asked->nodes,
                "counts", (json_int_t)made->n_counts, "sizes", (json_int_t)made->n_sizes,
                "noise", made->noise, "measure", (json_int_t)made->measure);
    finding_put(&finding, "{s:I, s:I}", "$size_from", (json_int_t)made->size_from,
                "$size_to", (json_int_t)made->size_to);
    if (made->message == MESSAGE_PROJECTED)
        finding_put(&finding, "{s:o}", "at", point_json(asked->kind, &made->at));
    return finding_end(&finding, made->message, mark);
}

/* Add the sizes of a series. *verdict becomes the verdict of the largest size that has a
 * projection or, if there is none, of the first size. */
static void add_sizes(struct projection_question *asked, const struct case_series *series,
                      const char *mark, json_t *sizes, json_t **verdict)
{
    for (size_t i = 0; i < series->n_points; i++) {
        json_t *one = json_copy(series->key), *own_verdict, *measured = json_array();
        struct projection made;

        asked->size = series->points[i].size;
        for (size_t k = 0; k < asked->n_points; k++)
            if (asked->points[k].size == asked->size)
                json_array_append_new(measured,
                                      point_json(asked->kind, &asked->points[k]));
        projection_make(asked, &made);
        own_verdict = verdict_of(asked, &made, mark);
        json_object_update_new(one, json_pack("{s:I, s:o, s:o}", "size",
                                              (json_int_t)asked->size, "measured",
                                              measured, "verdict", own_verdict));
        json_array_append_new(sizes, one);
        if (!*verdict || made.message == MESSAGE_PROJECTED)
            *verdict = own_verdict;
    }
}

json_t *projection_json(const struct compare_run *run, size_t nodes)
{
    struct projection_question asked = {.nodes = nodes, .ranks = nodes};
    const char *mark = verdict_mark_of(run->doc);
    const struct case_series *series = NULL;
    struct finding nothing = finding_begin();
    json_t *none = finding_end(&nothing, MESSAGE_NOT_PROJECTED, mark);
    json_t *sizes = json_array(), *verdict = NULL, *out;
    struct projection_point *points;
    size_t n = 0, n_points = 1;
    struct compare_side side = {0};
    struct error err;

    if (compare_side_take(&side, &(struct compare_ask){run, -1}, NULL, &err) == 0)
        compare_side_keep_alike(
            &side, &(struct compare_side){.cases = side.cases, .n = side.n > 0});
    if (side.n > 0) {
        /* The last case uses the most nodes. */
        const struct compare_choice *last = &side.cases[side.n - 1];

        if (compare_choice_ranks(last) > 0)
            asked.ranks = nodes * compare_choice_ranks(last) / compare_choice_nodes(last);
        series = case_values_of(run->values, last->case_no, &n);
    }
    for (size_t i = 0; i < run->values->n; i++)
        n_points += run->values->series[i].n_points;
    asked.points = points = memory_zeroed(n_points, sizeof(*points), "a projection");
    for (size_t i = 0; i < n; i++) {
        int kind = collective_lookup(json_get_str(series[i].key, "collective", ""));

        if (series[i].is_figure || kind < 0)
            continue;
        asked.kind = (enum collective_kind)kind;
        asked.key = series[i].key;
        asked.n_points = read_points(&side, series[i].identity, points);
        add_sizes(&asked, &series[i], mark, sizes, &verdict);
    }
    free(points);
    compare_side_release(&side);
    out = json_pack("{s:O?, s:I, s:I, s:O, s:o}", "run", json_object_get(run->doc, "id"),
                    "nodes", (json_int_t)nodes, "ranks", (json_int_t)asked.ranks,
                    "verdict", verdict ? verdict : none, "sizes", sizes);
    json_decref(none);
    return out;
}
