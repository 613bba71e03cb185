/* projection_json.c - the sizes of runs on more nodes, and the sentence */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/median.h"
#include "common/base/order_stat.h"
#include "common/base/units.h"
#include "common/spec/collective.h"
#include "server/analysis/differences.h"
#include "server/analysis/gate_check.h"
#include "server/analysis/projection.h"
#include "server/analysis/verdict.h"

#define SENTENCE_MAX 600
#define CASES_MAX 256 /* on as many nodes */

struct sweep {
    struct compare_side side; /* the completed cases with the variables of the first */
    struct projection_point counts[PROJECTION_COUNTS_MAX]; /* without times; rising */
    size_t n_counts;
    size_t nodes, ranks; /* asked about */
    json_t *sizes;
    const char *mark; /* verdict.h */
    size_t done, refused;
    char last_done[SENTENCE_MAX], first_refused[SENTENCE_MAX]; /* sentences */
};

/* ---- The cases ---- */

/* Ranks that share a node's links differently are not of one line. */
static int check_ranks(const struct projection_point *first, size_t nodes, size_t ranks,
                       struct error *err)
{
    if (ranks * first->nodes == first->ranks * nodes)
        return 0;
    return error_set(err, ERROR_INVALID,
                     "%zu nodes had %zu ranks and %zu nodes %zu: counts are projected "
                     "where each node has as many",
                     first->nodes, first->ranks, nodes, ranks);
}

static int add_count(struct sweep *sweep, const struct compare_choice *choice,
                     struct error *err)
{
    size_t nodes = compare_choice_nodes(choice), at = 0;
    size_t ranks = compare_choice_ranks(choice);

    if (sweep->n_counts > 0 && check_ranks(&sweep->counts[0], nodes, ranks, err))
        return -1;
    while (at < sweep->n_counts && sweep->counts[at].nodes < nodes)
        at++;
    if (sweep->n_counts == PROJECTION_COUNTS_MAX ||
        (at < sweep->n_counts && sweep->counts[at].nodes == nodes))
        return 0;
    memmove(&sweep->counts[at + 1], &sweep->counts[at],
            (sweep->n_counts++ - at) * sizeof(*sweep->counts));
    sweep->counts[at] = (struct projection_point){.nodes = nodes, .ranks = ranks};
    return 0;
}

/* But for what follows from the number of nodes, runs must be as alike as those that are
 * compared. */
static int check_alike(const struct compare_side *first, const struct compare_side *other,
                       struct error *err)
{
    json_t *differences = differences_json(first, other), *one;
    int result = 0;
    size_t i;

    json_array_foreach (differences, i, one) {
        const char *what = json_get_str(one, "what", "?");

        if (!json_get_bool(one, "alike", true) && strcmp(what, "nodes") != 0 &&
            strcmp(what, "ranks") != 0)
            result = error_set(err, ERROR_INVALID,
                               "run %s is not like run %s: they differ in %s",
                               json_get_str(other->cases->run->doc, "id", "?"),
                               json_get_str(first->cases->run->doc, "id", "?"), what);
    }
    json_decref(differences);
    return result;
}

/* The cases of that run: they stand together. */
static struct compare_side side_of(const struct compare_side *all,
                                   const struct compare_run *run)
{
    struct compare_side side = {0};

    for (size_t i = 0; i < all->n; i++)
        if (all->cases[i].run == run && side.n++ == 0)
            side.cases = &all->cases[i];
    return side;
}

static int take_runs(struct sweep *sweep, const struct compare_run *runs, size_t n,
                     struct error *err)
{
    struct compare_side *all = &sweep->side, first;

    for (size_t i = 0; i < n; i++)
        if (compare_side_take(all, &(struct compare_ask){&runs[i], -1}, NULL, err))
            return -1;
    first = (struct compare_side){.cases = all->cases, .n = all->n > 0};
    compare_side_keep_alike(all, &first);
    first = side_of(all, &runs[0]);
    for (size_t i = 1; i < n; i++) {
        struct compare_side other = side_of(all, &runs[i]);

        if (first.n == 0 || other.n == 0)
            return error_set(err, ERROR_INVALID,
                             "run %s has no completed case with the variables of run %s",
                             json_get_str(runs[i].doc, "id", "?"),
                             json_get_str(runs[0].doc, "id", "?"));
        if (check_alike(&first, &other, err))
            return -1;
    }
    for (size_t i = 0; i < all->n; i++)
        if (add_count(sweep, &all->cases[i], err))
            return -1;
    return 0;
}

/* ---- One size ---- */

static double time_of(const struct compare_choice *choice, const char *identity,
                      int64_t size)
{
    size_t n;
    const struct case_series *all =
        case_values_of(choice->run->values, choice->case_no, &n);
    const struct case_series *series = case_series_find(all, n, identity);

    for (size_t i = 0; series && i < series->n_points; i++)
        if (series->points[i].size == size)
            return series->points[i].time_us;
    return 0;
}

/* Over the cases with so many nodes; false: there are none. */
static bool measure(const struct sweep *sweep, const char *identity, int64_t size,
                    struct projection_point *point)
{
    double times[CASES_MAX];
    size_t n = 0;

    for (size_t i = 0; i < sweep->side.n && n < CASES_MAX; i++)
        if (compare_choice_nodes(&sweep->side.cases[i]) == point->nodes) {
            times[n] = time_of(&sweep->side.cases[i], identity, size);
            n += times[n] > 0;
        }
    if (n == 0)
        return false;
    order_stat_sort(times, n);
    point->time_us = median_of_sorted(times, n);
    point->cases = n;
    point->low_us = times[0];
    point->high_us = times[n - 1];
    return true;
}

static size_t gather(const struct sweep *sweep, const char *identity, int64_t size,
                     struct projection_point *out)
{
    size_t n = 0;

    for (size_t i = 0; i < sweep->n_counts; i++) {
        out[n] = sweep->counts[i];
        n += measure(sweep, identity, size, &out[n]);
    }
    return n;
}

static double busbw_gbs(const json_t *key, int64_t size, size_t ranks, double time_us)
{
    int kind = collective_lookup(json_get_str(key, "collective", ""));
    int dtype = dtype_lookup(json_get_str(key, "dtype", ""));
    struct collective_layout layout;

    if (kind < 0 || dtype < 0)
        return 0;
    collective_layout((enum collective_kind)kind, (uint64_t)size, (enum dtype)dtype,
                      (int)ranks, &layout);
    return collective_algbw_gbs(&layout, time_us / 1e6) *
           collective_bus_factor((enum collective_kind)kind, (int)ranks);
}

static json_t *point_json(const json_t *key, int64_t size,
                          const struct projection_point *at)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:f}", "nodes", (json_int_t)at->nodes,
                     "time_us", at->time_us, "time_low_us", at->low_us, "time_high_us",
                     at->high_us, "busbw_gbs",
                     busbw_gbs(key, size, at->ranks, at->time_us));
}

static json_t *measured_json(const json_t *key, const struct projection_question *asked)
{
    json_t *out = json_array();

    for (size_t i = 0; i < asked->n_points; i++) {
        json_t *point = point_json(key, asked->size, &asked->points[i]);

        json_object_set_new(point, "cases",
                            json_integer((json_int_t)asked->points[i].cases));
        json_array_append_new(out, point);
    }
    return out;
}

static json_t *fitted_json(const json_t *key, const struct projection_question *asked,
                           size_t nodes, size_t ranks)
{
    struct projection made;

    projection_at(asked, nodes, ranks, &made);
    return point_json(key, asked->size,
                      &(struct projection_point){.nodes = nodes,
                                                 .ranks = ranks,
                                                 .time_us = made.time_us,
                                                 .low_us = made.low_us,
                                                 .high_us = made.high_us});
}

/* On the counts that were used, on twice as many each, and on those that are asked about.
 */
static json_t *model_json(const json_t *key, const struct projection_question *asked)
{
    const struct projection_point *last = &asked->points[asked->n_points - 1];
    json_t *out = json_array();

    for (size_t i = 0; i < asked->n_points; i++)
        if (asked->points[i].nodes >= PROJECTION_NODES_MIN)
            json_array_append_new(out, fitted_json(key, asked, asked->points[i].nodes,
                                                   asked->points[i].ranks));
    for (size_t nodes = 2 * last->nodes; nodes < asked->nodes; nodes *= 2)
        json_array_append_new(
            out, fitted_json(key, asked, nodes, nodes * last->ranks / last->nodes));
    if (asked->nodes > last->nodes)
        json_array_append_new(out, fitted_json(key, asked, asked->nodes, asked->ranks));
    return out;
}

/* ---- In words ---- */

static void put_refused(const struct sweep *sweep, const struct projection *why,
                        char *out, size_t size)
{
    char from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX], low[32], high[32];

    units_format_size((uint64_t)why->size_from, from);
    units_format_size((uint64_t)why->size_to, to);
    if (why->answer == PROJECTION_FAR)
        snprintf(out, size,
                 "%zu nodes are more than %d times the most that were measured; measure "
                 "%zu",
                 sweep->nodes, PROJECTION_FACTOR_MAX, why->measure);
    else if (why->answer == PROJECTION_FEW)
        snprintf(out, size,
                 "it takes %d node counts of %d or more; measure %zu too "
                 "(\"pattern\": \"scaling\")",
                 PROJECTION_COUNTS_MIN, PROJECTION_NODES_MIN, why->measure);
    else if (why->answer == PROJECTION_OFF)
        snprintf(out, size,
                 "fitted to fewer nodes it is %.0f %% off where most were measured; "
                 "measure %zu",
                 100 * why->error, why->measure);
    else if (why->answer == PROJECTION_WIDE)
        snprintf(out, size, "anything from %s to %s us fits on %zu nodes; measure %zu",
                 gate_number_text(why->low_us, low), gate_number_text(why->high_us, high),
                 sweep->nodes, why->measure);
    else if (why->answer == PROJECTION_ALONE)
        snprintf(out, size,
                 "on %zu nodes another algorithm may be taken; measure %d sizes from %s "
                 "to %s, which would show it",
                 sweep->nodes, PROJECTION_SIZES_MIN, from, to);
    else
        snprintf(out, size,
                 "on %zu nodes another algorithm may be taken, as one is between %s and "
                 "%s on %zu; measure %zu, or have one algorithm taken (NCCL_ALGO, "
                 "NCCL_PROTO)",
                 sweep->nodes, from, to, sweep->counts[sweep->n_counts - 1].nodes,
                 why->measure);
}

static void put_done(const struct sweep *sweep, const json_t *key, int64_t bytes,
                     const struct projection *made, char *out, size_t size)
{
    char text[UNITS_TEXT_MAX], busbw[32], time[32], low[32], high[32];

    units_format_size((uint64_t)bytes, text);
    snprintf(
        out, size,
        "on %zu nodes %s %s of %s would take %s us (%s to %s), busbw %s GB/s; fitted to "
        "fewer nodes it is %.1f %% off where most were measured",
        sweep->nodes, json_get_str(key, "collective", "?"),
        json_get_str(key, "dtype", "?"), text, gate_number_text(made->time_us, time),
        gate_number_text(made->low_us, low), gate_number_text(made->high_us, high),
        gate_number_text(busbw_gbs(key, bytes, sweep->ranks, made->time_us), busbw),
        100 * made->error);
}

static const char *const answers[PROJECTION_ANSWERS] = {
    [PROJECTION_DONE] = "projected",        [PROJECTION_FEW] = "too_few_counts",
    [PROJECTION_FAR] = "too_far",           [PROJECTION_OFF] = "fit_is_off",
    [PROJECTION_WIDE] = "too_much_is_open", [PROJECTION_ALONE] = "too_few_sizes",
    [PROJECTION_BENT] = "algorithm_changes"};

static json_t *size_json(const json_t *key, const struct projection_question *asked,
                         const struct projection *made, json_t *sentence)
{
    json_t *out = json_pack(
        "{s:O*, s:O*, s:O*, s:O*, s:O*, s:I, s:s, s:o, s:o}", "collective",
        json_object_get(key, "collective"), "dtype", json_object_get(key, "dtype"),
        "redop", json_object_get(key, "redop"), "in_place",
        json_object_get(key, "in_place"), "root", json_object_get(key, "root"), "size",
        (json_int_t)asked->size, "answer", answers[made->answer], "sentence", sentence,
        "measured", measured_json(key, asked));
    json_t *model;

    if (made->form) {
        json_object_set_new(out, "form", json_string(made->form));
        json_object_set_new(out, "error", json_real(made->error));
    }
    if (made->answer != PROJECTION_DONE) {
        json_object_set_new(out, "measure", json_integer((json_int_t)made->measure));
        return out;
    }
    model = model_json(key, asked);
    json_object_update_new(out, fitted_json(key, asked, asked->nodes, asked->ranks));
    json_object_del(out, "nodes");
    json_object_set_new(out, "model", model);
    return out;
}

/* curve: the first n_curve sizes that are asked about, of the largest count. */
static void add_size(struct sweep *sweep, const struct case_series *series,
                     const struct case_point *curve, int64_t size)
{
    struct projection_point points[PROJECTION_COUNTS_MAX];
    struct projection_question asked = {.points = points,
                                        .size = size,
                                        .curve = curve,
                                        .n_curve = series->n_points,
                                        .nodes = sweep->nodes,
                                        .ranks = sweep->ranks};
    struct projection made;
    char other[SENTENCE_MAX], *sentence;

    asked.n_points = gather(sweep, series->identity, size, points);
    projection_make(&asked, &made);
    if (made.answer == PROJECTION_DONE) {
        sweep->done++;
        sentence = sweep->last_done;
        put_done(sweep, series->key, size, &made, sentence, SENTENCE_MAX);
    } else {
        sentence = sweep->refused++ == 0 ? sweep->first_refused : other;
        put_refused(sweep, &made, sentence, SENTENCE_MAX);
    }
    json_array_append_new(sweep->sizes,
                          size_json(series->key, &asked, &made,
                                    json_sprintf("%s%s", sentence, sweep->mark)));
}

static int add_series(struct sweep *sweep, const struct case_series *series)
{
    struct projection_point most = sweep->counts[sweep->n_counts - 1];
    struct case_point *curve = calloc(series->n_points + 1, sizeof(*curve));

    for (size_t i = 0; curve && i < series->n_points; i++) {
        curve[i].size = series->points[i].size;
        measure(sweep, series->identity, curve[i].size, &most);
        curve[i].time_us = most.time_us;
    }
    for (size_t i = 0; curve && i < series->n_points; i++)
        add_size(sweep, series, curve, series->points[i].size);
    free(curve);
    return curve ? 0 : -1;
}

/* The last case with most nodes has each size that is asked about. */
static int add_sizes(struct sweep *sweep)
{
    const struct compare_choice *last = NULL;
    const struct case_series *series = NULL;
    size_t n = 0;

    for (size_t i = 0; i < sweep->side.n; i++)
        if (compare_choice_nodes(&sweep->side.cases[i]) ==
            sweep->counts[sweep->n_counts - 1].nodes)
            last = &sweep->side.cases[i];
    if (last)
        series = case_values_of(last->run->values, last->case_no, &n);
    for (size_t i = 0; i < n; i++)
        if (!series[i].is_figure && add_series(sweep, &series[i]))
            return -1;
    return 0;
}

/* ---- The verdict ---- */

static json_t *conclude(const struct sweep *sweep)
{
    char sentence[SENTENCE_MAX + 80];

    if (sweep->done > 0 && sweep->refused > 0)
        snprintf(sentence, sizeof(sentence), "%s; %zu of %zu sizes can't be projected",
                 sweep->last_done, sweep->refused, sweep->refused + sweep->done);
    else
        snprintf(sentence, sizeof(sentence), "%s%s",
                 sweep->done > 0 ? "" : "not enough data: ",
                 sweep->done > 0      ? sweep->last_done
                 : sweep->refused > 0 ? sweep->first_refused
                                      : "no case has results");
    return verdict_json(VERDICT_PROJECTION,
                        sweep->done > 0 ? VERDICT_PROJECTED : VERDICT_NOT_ENOUGH_DATA,
                        sentence, sweep->mark,
                        json_pack("{s:I, s:I}", "projected", (json_int_t)sweep->done,
                                  "refused", (json_int_t)sweep->refused));
}

static json_t *answer_of(struct sweep *sweep, const struct compare_run *runs, size_t n)
{
    const struct projection_point *most =
        sweep->n_counts > 0 ? &sweep->counts[sweep->n_counts - 1] : NULL;
    json_t *ids = json_array();

    /* Nodes have as many ranks as most of them had on average. */
    sweep->ranks = sweep->nodes;
    if (most && most->ranks > most->nodes)
        sweep->ranks = sweep->nodes * most->ranks / most->nodes;
    for (size_t i = 0; i < n; i++)
        json_array_append(ids, json_object_get(runs[i].doc, "id"));
    if (most && add_sizes(sweep)) {
        json_decref(ids);
        return NULL;
    }
    return json_pack("{s:o, s:I, s:I, s:o, s:O}", "runs", ids, "nodes",
                     (json_int_t)sweep->nodes, "ranks", (json_int_t)sweep->ranks,
                     "verdict", conclude(sweep), "sizes", sweep->sizes);
}

json_t *projection_json(const struct compare_run *runs, size_t n, size_t nodes,
                        struct error *err)
{
    struct sweep *sweep = calloc(1, sizeof(*sweep));
    json_t *out = NULL;

    if (sweep) {
        sweep->nodes = nodes;
        sweep->sizes = json_array();
        sweep->mark = verdict_mark_of(runs->doc);
        if (take_runs(sweep, runs, n, err) == 0 && !(out = answer_of(sweep, runs, n)))
            error_set(err, ERROR_MEMORY, "out of memory");
        compare_side_release(&sweep->side);
        json_decref(sweep->sizes);
    } else {
        error_set(err, ERROR_MEMORY, "out of memory");
    }
    free(sweep);
    return out;
}
