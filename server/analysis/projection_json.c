/* projection_json.c - the sizes of runs on more nodes, and the sentence */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/units.h"
#include "server/analysis/differences.h"
#include "server/analysis/gate_check.h"
#include "server/analysis/projection.h"
#include "server/finding/verdict.h"

#define SENTENCE_MAX 400

struct sweep {
    struct compare_side side; /* completed cases with the first one's variables */
    const struct compare_choice *most; /* the last case with the most nodes */
    struct projection_point *points;   /* of one series */
    struct projection_question asked;  /* about one of its sizes */
    const json_t *key;                 /* of the series */
    const char *mark;                  /* verdict.h */
    json_t *sizes;
    size_t done;
    char sentence[SENTENCE_MAX]; /* the last projected size's, or the first one's */
};

/* ---- The cases ---- */

/* Runs must be comparable, except for what follows from the number of nodes. */
static int check_alike(const struct compare_side *first, struct compare_choice *choice,
                       struct error *err)
{
    const struct compare_side other = {.cases = choice, .n = 1};
    json_t *differences = differences_json(first, &other), *one;
    int result = 0;
    size_t i;

    json_array_foreach (differences, i, one) {
        const char *what = json_get_str(one, "what", "?");

        if (!json_get_bool(one, "alike", true) && strcmp(what, "nodes") != 0 &&
            strcmp(what, "ranks") != 0)
            result = error_set(err, ERROR_INVALID,
                               "run %s is not like run %s: they differ in %s",
                               json_get_str(choice->run->doc, "id", "?"),
                               json_get_str(first->cases->run->doc, "id", "?"), what);
    }
    json_decref(differences);
    return result;
}

/* Nodes with other numbers of ranks share their links in another way. */
static int check_ranks(const struct compare_choice *first,
                       const struct compare_choice *other, struct error *err)
{
    size_t nodes[] = {compare_choice_nodes(first), compare_choice_nodes(other)};
    size_t ranks[] = {compare_choice_ranks(first), compare_choice_ranks(other)};

    if (ranks[0] * nodes[1] == ranks[1] * nodes[0])
        return 0;
    return error_set(err, ERROR_INVALID,
                     "%zu nodes had %zu ranks and %zu nodes %zu: a projection needs "
                     "the same number of ranks on each node",
                     nodes[0], ranks[0], nodes[1], ranks[1]);
}

static int take_runs(struct sweep *sweep, const struct compare_run *runs, size_t n,
                     struct error *err)
{
    struct compare_side *all = &sweep->side, first;
    size_t found = 0; /* runs with cases */

    for (size_t i = 0; i < n; i++)
        if (compare_side_take(all, &(struct compare_ask){&runs[i], -1}, NULL, err))
            return -1;
    first = (struct compare_side){.cases = all->cases, .n = all->n > 0};
    compare_side_keep_alike(all, &first);
    for (size_t i = 0; i < all->n; i++) {
        struct compare_choice *choice = &all->cases[i];

        if (found < n && choice->run == &runs[found]) {
            if (check_alike(&first, choice, err))
                return -1;
            found++;
        }
        if (check_ranks(all->cases, choice, err))
            return -1;
        if (!sweep->most ||
            compare_choice_nodes(choice) >= compare_choice_nodes(sweep->most))
            sweep->most = choice;
    }
    if (found == n || n == 1)
        return 0;
    return error_set(
        err, ERROR_INVALID, "run %s has no completed case with the variables of run %s",
        json_get_str(runs[found].doc, "id", "?"), json_get_str(runs[0].doc, "id", "?"));
}

/* ---- One series ---- */

static int compare_points(const void *a, const void *b)
{
    const struct projection_point *left = a, *right = b;

    if (left->nodes != right->nodes)
        return left->nodes < right->nodes ? -1 : 1;
    if (left->size != right->size)
        return left->size < right->size ? -1 : 1;
    return (left->time_us > right->time_us) - (left->time_us < right->time_us);
}

/* The median and the extremes of the n points with one node count and size. */
static struct projection_point middle(const struct projection_point *points, size_t n)
{
    struct projection_point point = points[0];

    point.time_us = (points[(n - 1) / 2].time_us + points[n / 2].time_us) / 2;
    point.low_us = points[0].time_us;
    point.high_us = points[n - 1].time_us;
    point.cases = n;
    return point;
}

/* The series' points of each case. Returns how many. */
static size_t read_points(struct sweep *sweep, const char *identity)
{
    size_t n = 0;

    for (size_t i = 0; i < sweep->side.n; i++) {
        const struct compare_choice *choice = &sweep->side.cases[i];
        size_t n_series;
        const struct case_series *all =
            case_values_of(choice->run->values, choice->case_no, &n_series);
        const struct case_series *series = case_series_find(all, n_series, identity);

        if (!series)
            continue;
        sweep->points =
            realloc(sweep->points, (n + series->n_points + 1) * sizeof(*sweep->points));
        if (!sweep->points)
            memory_out("a projection");
        for (size_t k = 0; k < series->n_points; k++)
            sweep->points[n++] =
                (struct projection_point){.nodes = compare_choice_nodes(choice),
                                          .ranks = compare_choice_ranks(choice),
                                          .size = series->points[k].size,
                                          .time_us = series->points[k].time_us};
    }
    return n;
}

/* One point for each node count and size. */
static void gather(struct sweep *sweep, const char *identity)
{
    size_t n = read_points(sweep, identity), count = 0;
    struct projection_point *points = sweep->points;

    qsort(points, n, sizeof(*points), compare_points);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && points[end].nodes == points[i].nodes &&
                      points[end].size == points[i].size;)
            end++;
        points[count++] = middle(&points[i], end - i);
    }
    sweep->asked.points = points;
    sweep->asked.n_points = count;
}

static double busbw_gbs(const struct sweep *sweep, const struct projection_point *at)
{
    enum collective_kind kind = sweep->asked.kind;
    int dtype = dtype_lookup(json_get_str(sweep->key, "dtype", ""));
    struct collective_layout layout;

    if (dtype < 0 || at->ranks == 0)
        return 0;
    collective_layout(kind, (uint64_t)at->size, (enum dtype)dtype, (int)at->ranks,
                      &layout);
    return collective_algbw_gbs(&layout, at->time_us / 1e6) *
           collective_bus_factor(kind, (int)at->ranks);
}

static json_t *point_json(const struct sweep *sweep, const struct projection_point *at)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:f}", "nodes", (json_int_t)at->nodes,
                     "time_us", at->time_us, "time_low_us", at->low_us, "time_high_us",
                     at->high_us, "busbw_gbs", busbw_gbs(sweep, at));
}

static json_t *measured_json(const struct sweep *sweep)
{
    const struct projection_question *asked = &sweep->asked;
    json_t *out = json_array();

    for (size_t i = 0; i < asked->n_points; i++)
        if (asked->points[i].size == asked->size) {
            json_t *point = point_json(sweep, &asked->points[i]);

            json_object_set_new(point, "cases",
                                json_integer((json_int_t)asked->points[i].cases));
            json_array_append_new(out, point);
        }
    return out;
}

static json_t *model_json(const struct sweep *sweep, const struct projection *made)
{
    json_t *out = json_array();

    for (size_t i = made->n_model; i-- > 0;)
        json_array_append_new(out, point_json(sweep, &made->model[i]));
    return out;
}

static const char *const answers[PROJECTION_ANSWERS] = {
    "projected", "too_far", "too_few_times", "interval_too_wide"};

static void put_sentence(const struct sweep *sweep, const struct projection *made,
                         char out[SENTENCE_MAX])
{
    const struct projection_question *asked = &sweep->asked;
    char size[UNITS_TEXT_MAX], from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];
    char time[32], low[32], high[32], busbw[32];

    units_format_size((uint64_t)asked->size, size);
    units_format_size((uint64_t)made->size_from, from);
    units_format_size((uint64_t)made->size_to, to);
    gate_number_text(made->model[0].time_us, time);
    gate_number_text(made->model[0].low_us, low);
    gate_number_text(made->model[0].high_us, high);
    gate_number_text(busbw_gbs(sweep, &made->model[0]), busbw);
    if (made->answer == PROJECTION_FAR)
        snprintf(out, SENTENCE_MAX,
                 "%zu nodes are more than %d times the most that were measured; measure "
                 "%zu",
                 asked->nodes, PROJECTION_FACTOR_MAX, made->measure);
    else if (made->answer == PROJECTION_FEW)
        snprintf(out, SENTENCE_MAX,
                 "a projection of %s needs %d node counts of %d or more (there are %zu), "
                 "and %d sizes from %s to %s (there are %zu); measure %zu nodes",
                 size, PROJECTION_COUNTS_MIN, PROJECTION_NODES_MIN, made->n_counts,
                 PROJECTION_SIZES_MIN, from, to, made->n_sizes, made->measure);
    else if (made->answer == PROJECTION_WIDE)
        snprintf(
            out, SENTENCE_MAX,
            "on %zu nodes %s would take %s us, but the 95 %% interval is too wide, "
            "since times from %s to %s are %.0f %% off the model; measure %zu nodes, "
            "or set NCCL_ALGO and NCCL_PROTO",
            asked->nodes, size, time, from, to, 100 * made->noise, made->measure);
    else
        snprintf(out, SENTENCE_MAX,
                 "on %zu nodes %s %s of %s would take %s us (95 %% interval %s to %s), "
                 "busbw %s GB/s",
                 asked->nodes, json_get_str(sweep->key, "collective", "?"),
                 json_get_str(sweep->key, "dtype", "?"), size, time, low, high, busbw);
}

static void add_size(struct sweep *sweep, int64_t size)
{
    static const char *const named[] = {"collective", "dtype", "redop", "in_place",
                                        "root"};
    struct projection made;
    char sentence[SENTENCE_MAX];
    json_t *out;

    sweep->asked.size = size;
    projection_make(&sweep->asked, &made);
    put_sentence(sweep, &made, sentence);
    out = made.answer == PROJECTION_DONE
              ? json_pack("{s:f, s:o}", "noise", made.noise, "model",
                          model_json(sweep, &made))
              : json_pack("{s:I}", "measure", (json_int_t)made.measure);
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        json_object_set(out, named[i], json_object_get(sweep->key, named[i]));
    if (made.answer == PROJECTION_DONE) {
        json_object_update_new(out, point_json(sweep, &made.model[0]));
        json_object_del(out, "nodes");
        sweep->done++;
    }
    if (made.answer == PROJECTION_DONE || json_array_size(sweep->sizes) == 0)
        memcpy(sweep->sentence, sentence, sizeof(sentence));
    json_object_set_new(out, "size", json_integer(size));
    json_object_set_new(out, "answer", json_string(answers[made.answer]));
    json_object_set_new(out, "sentence", json_sprintf("%s%s", sentence, sweep->mark));
    json_object_set_new(out, "measured", measured_json(sweep));
    json_array_append_new(sweep->sizes, out);
}

static void add_series(struct sweep *sweep, const struct case_series *series)
{
    int kind = collective_lookup(json_get_str(series->key, "collective", ""));

    if (series->is_figure || kind < 0)
        return;
    sweep->asked.kind = (enum collective_kind)kind;
    sweep->key = series->key;
    gather(sweep, series->identity);
    for (size_t i = 0; i < series->n_points; i++)
        add_size(sweep, series->points[i].size);
}

/* ---- The verdict ---- */

static json_t *conclude(const struct sweep *sweep)
{
    char sentence[SENTENCE_MAX + 80];
    size_t sizes = json_array_size(sweep->sizes), refused = sizes - sweep->done;

    if (sweep->done > 0 && refused > 0)
        snprintf(sentence, sizeof(sentence), "%s; %zu of %zu sizes can't be projected",
                 sweep->sentence, refused, sizes);
    else
        snprintf(sentence, sizeof(sentence), "%s%s",
                 sweep->done > 0 ? "" : "not enough data: ",
                 sizes > 0 ? sweep->sentence : "no case has results");
    return verdict_json(VERDICT_PROJECTION,
                        sweep->done > 0 ? VERDICT_PROJECTED : VERDICT_NOT_ENOUGH_DATA,
                        sentence, sweep->mark,
                        json_pack("{s:I, s:I}", "projected", (json_int_t)sweep->done,
                                  "refused", (json_int_t)refused));
}

/* Project the series of the case with the most nodes. */
static void project(struct sweep *sweep, size_t nodes)
{
    const struct compare_choice *most = sweep->most;
    const struct case_series *series;
    size_t n;

    sweep->asked.nodes = sweep->asked.ranks = nodes;
    if (!most)
        return;
    if (compare_choice_ranks(most) > 0)
        sweep->asked.ranks =
            nodes * compare_choice_ranks(most) / compare_choice_nodes(most);
    series = case_values_of(most->run->values, most->case_no, &n);
    for (size_t i = 0; i < n; i++)
        add_series(sweep, &series[i]);
}

json_t *projection_json(const struct compare_run *runs, size_t n, size_t nodes,
                        struct error *err)
{
    struct sweep sweep = {.mark = verdict_mark_of(runs->doc), .sizes = json_array()};
    json_t *ids = json_array(), *out = NULL;

    for (size_t i = 0; i < n; i++)
        json_array_append(ids, json_object_get(runs[i].doc, "id"));
    if (take_runs(&sweep, runs, n, err) == 0) {
        project(&sweep, nodes);
        out = json_pack("{s:O, s:I, s:I, s:o, s:O}", "runs", ids, "nodes",
                        (json_int_t)nodes, "ranks", (json_int_t)sweep.asked.ranks,
                        "verdict", conclude(&sweep), "sizes", sweep.sizes);
    }
    compare_side_release(&sweep.side);
    json_decref(ids);
    json_decref(sweep.sizes);
    free(sweep.points);
    return out;
}
