/* projection_json.c - a run's sizes on more nodes, and the sentence */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/median.h"
#include "common/base/order_stat.h"
#include "common/base/units.h"
#include "common/spec/collective.h"
#include "server/analysis/gate_check.h"
#include "server/analysis/projection.h"
#include "server/analysis/verdict.h"

#define SENTENCE_MAX 600

/* A run's cases: how many nodes and ranks each had. */
struct of_case {
    size_t nodes, ranks;
    bool counts; /* it has the variables of the first */
};

struct sweep {
    const struct case_values *values;
    struct of_case *cases;
    size_t n_cases, nodes, ranks;
    json_t *sizes;
    size_t done, refused;
    const struct case_series
        *largest; /* the last series that was projected, and its size */
    int64_t size;
    struct projection last; /* of it */
    struct projection first_refused;
};

static size_t ranks_of(const json_t *run, const json_t *names)
{
    const json_t *nodes = json_object_get(run, "nodes");
    size_t ranks = 0;

    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        bool is_in = !names;

        for (size_t k = 0; k < json_array_size(names) && !is_in; k++)
            is_in = json_equal(json_array_get(names, k), json_object_get(node, "name"));
        ranks += is_in ? (size_t)json_get_int(node, "ranks", 0) : 0;
    }
    return ranks;
}

/* Without a pattern all cases have all nodes. */
static int read_cases(struct sweep *sweep, const json_t *run)
{
    const json_t *cases = json_object_get(run, "cases");

    sweep->n_cases = json_array_size(cases);
    sweep->cases = calloc(sweep->n_cases + 1, sizeof(*sweep->cases));
    if (!sweep->cases)
        return -1;
    for (size_t i = 0; i < sweep->n_cases; i++) {
        const json_t *it = json_array_get(cases, i),
                     *names = json_object_get(it, "nodes");

        sweep->cases[i].nodes =
            json_array_size(names ? names : json_object_get(run, "nodes"));
        sweep->cases[i].ranks = ranks_of(run, names);
        sweep->cases[i].counts =
            json_equal(json_object_get(it, "env"),
                       json_object_get(json_array_get(cases, 0), "env")) ||
            !json_object_get(it, "env");
    }
    return 0;
}

/* ---- One size ---- */

static const struct case_point *point_of(const struct case_series *series, int64_t size)
{
    for (size_t i = 0; i < series->n_points; i++)
        if (series->points[i].size == size)
            return &series->points[i];
    return NULL;
}

/* The median over the cases with so many nodes; 0: there are none. */
static double time_on(const struct sweep *sweep, const char *identity, int64_t size,
                      const struct of_case *like)
{
    double times[PROJECTION_COUNTS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < sweep->values->n && n < PROJECTION_COUNTS_MAX; i++) {
        const struct case_series *series = &sweep->values->series[i];
        const struct of_case *it = &sweep->cases[series->case_no];
        const struct case_point *point;

        if (it->nodes != like->nodes || !it->counts ||
            strcmp(series->identity, identity) != 0)
            continue;
        point = point_of(series, size);
        if (point && point->time_us > 0)
            times[n++] = point->time_us;
    }
    order_stat_sort(times, n);
    return n > 0 ? median_of_sorted(times, n) : 0;
}

/* The size's times by node count, rising. */
static size_t gather(const struct sweep *sweep, const char *identity, int64_t size,
                     struct projection_point *out)
{
    size_t n = 0, below = 0;

    while (n < PROJECTION_COUNTS_MAX) {
        const struct of_case *next = NULL;
        double time;

        for (size_t i = 0; i < sweep->n_cases; i++)
            if (sweep->cases[i].counts && sweep->cases[i].nodes > below &&
                (!next || sweep->cases[i].nodes < next->nodes))
                next = &sweep->cases[i];
        if (!next)
            break;
        below = next->nodes;
        time = time_on(sweep, identity, size, next);
        if (time > 0)
            out[n++] = (struct projection_point){next->nodes, next->ranks, time};
    }
    return n;
}

static double busbw_gbs(const struct sweep *sweep, const json_t *key, int64_t size,
                        double time_us)
{
    int kind = collective_lookup(json_get_str(key, "collective", ""));
    int dtype = dtype_lookup(json_get_str(key, "dtype", ""));
    struct collective_layout layout;

    if (kind < 0 || dtype < 0)
        return 0;
    collective_layout((enum collective_kind)kind, (uint64_t)size, (enum dtype)dtype,
                      (int)sweep->ranks, &layout);
    return collective_algbw_gbs(&layout, time_us / 1e6) *
           collective_bus_factor((enum collective_kind)kind, (int)sweep->ranks);
}

static const char *const answers[] = {
    [PROJECTION_DONE] = "projected",
    [PROJECTION_FEW] = "too_few_counts",
    [PROJECTION_FAR] = "too_far",
    [PROJECTION_OFF] = "fit_is_off",
};

static json_t *size_json(const struct sweep *sweep, const struct case_series *series,
                         int64_t size, const struct projection_point *points, size_t n,
                         const struct projection *projection)
{
    json_t *out = json_pack("{s:O*, s:O*, s:O*, s:O*, s:I, s:s}", "collective",
                            json_object_get(series->key, "collective"), "dtype",
                            json_object_get(series->key, "dtype"), "redop",
                            json_object_get(series->key, "redop"), "in_place",
                            json_object_get(series->key, "in_place"), "size",
                            (json_int_t)size, "answer", answers[projection->answer]);
    json_t *measured = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(measured, json_pack("{s:I, s:f}", "nodes",
                                                  (json_int_t)points[i].nodes, "time_us",
                                                  points[i].time_us));
    json_object_set_new(out, "measured", measured);
    if (projection->form) {
        json_object_set_new(out, "form", json_string(projection->form));
        json_object_set_new(out, "error", json_real(projection->error));
    }
    if (projection->answer != PROJECTION_DONE) {
        json_object_set_new(out, "measure",
                            json_integer((json_int_t)projection->measure));
        return out;
    }
    json_object_set_new(out, "time_us", json_real(projection->time_us));
    json_object_set_new(out, "time_low_us", json_real(projection->low_us));
    json_object_set_new(out, "time_high_us", json_real(projection->high_us));
    json_object_set_new(
        out, "busbw_gbs",
        json_real(busbw_gbs(sweep, series->key, size, projection->time_us)));
    return out;
}

static void add_size(struct sweep *sweep, const struct case_series *series, int64_t size)
{
    struct projection_point points[PROJECTION_COUNTS_MAX];
    struct projection projection;
    size_t n = gather(sweep, series->identity, size, points);

    projection_make(points, n, sweep->nodes, sweep->ranks, &projection);
    json_array_append_new(sweep->sizes,
                          size_json(sweep, series, size, points, n, &projection));
    if (projection.answer == PROJECTION_DONE) {
        sweep->done++;
        sweep->largest = series;
        sweep->size = size;
        sweep->last = projection;
    } else if (sweep->refused++ == 0) {
        sweep->first_refused = projection;
    }
}

/* The case with most nodes has each size that is asked about. */
static void add_sizes(struct sweep *sweep)
{
    size_t most = 0;
    int last = -1;

    for (size_t i = 0; i < sweep->values->n; i++) {
        const struct case_series *series = &sweep->values->series[i];

        if (!series->is_figure && sweep->cases[series->case_no].counts &&
            sweep->cases[series->case_no].nodes > most) {
            most = sweep->cases[series->case_no].nodes;
            last = series->case_no;
        }
    }
    for (size_t i = 0; i < sweep->values->n; i++) {
        const struct case_series *series = &sweep->values->series[i];

        if (series->case_no != last || series->is_figure)
            continue;
        for (size_t k = 0; k < series->n_points; k++)
            add_size(sweep, series, series->points[k].size);
    }
}

/* ---- The verdict ---- */

static void put_refused(const struct sweep *sweep, char *out, size_t size)
{
    const struct projection *why = &sweep->first_refused;

    if (json_array_size(sweep->sizes) == 0)
        snprintf(out, size, "not enough data: no case of the run has results");
    else if (why->answer == PROJECTION_FAR)
        snprintf(out, size,
                 "not enough data: %zu nodes are more than %d times the most that were "
                 "measured; measure %zu",
                 sweep->nodes, PROJECTION_FACTOR_MAX, why->measure);
    else if (why->answer == PROJECTION_FEW)
        snprintf(
            out, size,
            "not enough data: it takes %d node counts of %d or more; measure %zu too "
            "(\"pattern\": \"scaling\")",
            PROJECTION_COUNTS_MIN, PROJECTION_NODES_MIN, why->measure);
    else
        snprintf(
            out, size,
            "not enough data: fitted to fewer nodes it is %.0f %% off where most were "
            "measured; measure %zu",
            100 * why->error, why->measure);
}

static void put_done(const struct sweep *sweep, char *out, size_t size)
{
    char bytes[UNITS_TEXT_MAX], busbw[32], time[32], low[32], high[32], more[80] = "";
    const struct projection *last = &sweep->last;

    units_format_size((uint64_t)sweep->size, bytes);
    if (sweep->refused > 0)
        snprintf(more, sizeof(more), "; %zu of %zu sizes can't be projected",
                 sweep->refused, sweep->refused + sweep->done);
    snprintf(
        out, size,
        "on %zu nodes %s %s of %s would take %s us (%s to %s), busbw %s GB/s; fitted to "
        "fewer nodes it is %.1f %% off where most were measured%s",
        sweep->nodes, json_get_str(sweep->largest->key, "collective", "?"),
        json_get_str(sweep->largest->key, "dtype", "?"), bytes,
        gate_number_text(last->time_us, time), gate_number_text(last->low_us, low),
        gate_number_text(last->high_us, high),
        gate_number_text(
            busbw_gbs(sweep, sweep->largest->key, sweep->size, last->time_us), busbw),
        100 * last->error, more);
}

static json_t *conclude(const struct sweep *sweep, const json_t *run)
{
    char sentence[SENTENCE_MAX];
    bool is_done = sweep->done > 0;

    if (is_done)
        put_done(sweep, sentence, sizeof(sentence));
    else
        put_refused(sweep, sentence, sizeof(sentence));
    return verdict_json(VERDICT_PROJECTION,
                        is_done ? VERDICT_PROJECTED : VERDICT_NOT_ENOUGH_DATA, sentence,
                        verdict_mark_of(run),
                        json_pack("{s:I, s:I}", "projected", (json_int_t)sweep->done,
                                  "refused", (json_int_t)sweep->refused));
}

json_t *projection_json(const json_t *run, const struct case_values *values, size_t nodes)
{
    struct sweep sweep = {.values = values, .nodes = nodes, .sizes = json_array()};
    size_t pool = json_array_size(json_object_get(run, "nodes"));
    json_t *out = NULL;

    /* Nodes have as many ranks as those of the run have on average. */
    sweep.ranks = pool > 0 ? nodes * ranks_of(run, NULL) / pool : nodes;
    if (sweep.ranks < nodes)
        sweep.ranks = nodes;
    if (read_cases(&sweep, run) == 0) {
        add_sizes(&sweep);
        out = json_pack("{s:O?, s:I, s:I, s:o, s:O}", "run", json_object_get(run, "id"),
                        "nodes", (json_int_t)nodes, "ranks", (json_int_t)sweep.ranks,
                        "verdict", conclude(&sweep, run), "sizes", sweep.sizes);
    }
    free(sweep.cases);
    json_decref(sweep.sizes);
    return out;
}
