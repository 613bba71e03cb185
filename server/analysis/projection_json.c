/* projection_json.c - the sizes of runs on more nodes, and the sentence */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/units.h"
#include "server/analysis/differences.h"
#include "server/analysis/gate_check.h"
#include "server/analysis/projection.h"
#include "server/analysis/verdict.h"

#define SENTENCE_MAX 400

struct sweep {
    struct compare_side side; /* completed cases with the first one's variables */
    const struct compare_choice *most; /* the last case with the most nodes */
    struct projection_point *points;   /* of one series */
    size_t nodes, ranks;               /* asked about */
    const char *mark;                  /* verdict.h */
    json_t *sizes;
    size_t done;
    char sentence[SENTENCE_MAX]; /* the last projected size's, or the first one's */
};

/* ---- The cases ---- */

/* Runs must be comparable, except for what follows from the number of nodes. */
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
    size_t at = 0;

    for (size_t i = 0; i < n; i++)
        if (compare_side_take(all, &(struct compare_ask){&runs[i], -1}, NULL, err))
            return -1;
    first = (struct compare_side){.cases = all->cases, .n = all->n > 0};
    compare_side_keep_alike(all, &first);
    for (size_t i = 0; i < n; i++) {
        struct compare_side one = {.cases = &all->cases[at], .n = 1};

        if (n > 1 && (at == all->n || one.cases->run != &runs[i]))
            return error_set(err, ERROR_INVALID,
                             "run %s has no completed case with the variables of run %s",
                             json_get_str(runs[i].doc, "id", "?"),
                             json_get_str(runs[0].doc, "id", "?"));
        if (i > 0 && check_alike(&first, &one, err))
            return -1;
        for (; at < all->n && all->cases[at].run == &runs[i]; at++) {
            const struct compare_choice *choice = &all->cases[at];

            if (check_ranks(all->cases, choice, err))
                return -1;
            if (!sweep->most ||
                compare_choice_nodes(choice) >= compare_choice_nodes(sweep->most))
                sweep->most = choice;
        }
    }
    return 0;
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

static const struct case_series *series_of(const struct compare_choice *choice,
                                           const char *identity)
{
    size_t n;
    const struct case_series *all =
        case_values_of(choice->run->values, choice->case_no, &n);

    return case_series_find(all, n, identity);
}

/* A point for each node count and size that cases have; -1: memory is out. */
static int gather(struct sweep *sweep, const char *identity, size_t *count)
{
    size_t n = 0, most = 0, end;

    for (size_t i = 0; i < sweep->side.n; i++) {
        const struct case_series *series = series_of(&sweep->side.cases[i], identity);

        most += series ? series->n_points : 0;
    }
    free(sweep->points);
    sweep->points = calloc(most + 1, sizeof(*sweep->points));
    if (!sweep->points)
        return -1;
    for (size_t i = 0; i < sweep->side.n; i++) {
        const struct compare_choice *choice = &sweep->side.cases[i];
        const struct case_series *series = series_of(choice, identity);
        struct projection_point point = {.nodes = compare_choice_nodes(choice),
                                         .ranks = compare_choice_ranks(choice)};

        for (size_t k = 0; series && k < series->n_points; k++) {
            point.size = series->points[k].size;
            point.time_us = series->points[k].time_us;
            sweep->points[n++] = point;
        }
    }
    qsort(sweep->points, n, sizeof(*sweep->points), compare_points);
    *count = 0;
    for (size_t i = 0; i < n; i = end) {
        const struct projection_point *at = &sweep->points[i];

        for (end = i; end < n && sweep->points[end].nodes == at->nodes &&
                      sweep->points[end].size == at->size;)
            end++;
        sweep->points[(*count)++] = middle(at, end - i);
    }
    return 0;
}

static double busbw_gbs(const struct projection_question *asked, const json_t *key,
                        const struct projection_point *at)
{
    int dtype = dtype_lookup(json_get_str(key, "dtype", ""));
    struct collective_layout layout;

    if (dtype < 0 || at->ranks == 0)
        return 0;
    collective_layout(asked->kind, (uint64_t)at->size, (enum dtype)dtype, (int)at->ranks,
                      &layout);
    return collective_algbw_gbs(&layout, at->time_us / 1e6) *
           collective_bus_factor(asked->kind, (int)at->ranks);
}

static json_t *point_json(const struct projection_question *asked, const json_t *key,
                          const struct projection_point *at)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:f}", "nodes", (json_int_t)at->nodes,
                     "time_us", at->time_us, "time_low_us", at->low_us, "time_high_us",
                     at->high_us, "busbw_gbs", busbw_gbs(asked, key, at));
}

static json_t *measured_json(const struct projection_question *asked, const json_t *key)
{
    json_t *out = json_array();

    for (size_t i = 0; i < asked->n_points; i++)
        if (asked->points[i].size == asked->size) {
            json_t *point = point_json(asked, key, &asked->points[i]);

            json_object_set_new(point, "cases",
                                json_integer((json_int_t)asked->points[i].cases));
            json_array_append_new(out, point);
        }
    return out;
}

/* The fit on the count that is asked about, its half, its quarter ..., rising. */
static json_t *model_json(const struct projection_question *asked, const json_t *key,
                          const struct projection *made)
{
    json_t *out = json_array();

    for (size_t n = asked->nodes; n >= PROJECTION_NODES_MIN; n /= 2) {
        const struct projection_point at =
            projection_at(asked, made, n, asked->ranks * n / asked->nodes);

        json_array_insert_new(out, 0, point_json(asked, key, &at));
    }
    return out;
}

/* ---- In words ---- */

static const char *const answers[PROJECTION_ANSWERS] = {
    "projected", "too_far", "too_few_times", "interval_too_wide"};

static void put_sentence(const struct projection_question *asked, const json_t *key,
                         const struct projection *made, char out[SENTENCE_MAX])
{
    char size[UNITS_TEXT_MAX], from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];
    char time[32], low[32], high[32], busbw[32];

    units_format_size((uint64_t)asked->size, size);
    units_format_size((uint64_t)made->size_from, from);
    units_format_size((uint64_t)made->size_to, to);
    gate_number_text(made->at.time_us, time);
    gate_number_text(made->at.low_us, low);
    gate_number_text(made->at.high_us, high);
    gate_number_text(busbw_gbs(asked, key, &made->at), busbw);
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
                 asked->nodes, json_get_str(key, "collective", "?"),
                 json_get_str(key, "dtype", "?"), size, time, low, high, busbw);
}

static json_t *size_json(const struct projection_question *asked, const json_t *key,
                         const struct projection *made, json_t *sentence)
{
    json_t *out = json_pack(
        "{s:O*, s:O*, s:O*, s:O*, s:O*, s:I, s:s, s:o, s:o}", "collective",
        json_object_get(key, "collective"), "dtype", json_object_get(key, "dtype"),
        "redop", json_object_get(key, "redop"), "in_place",
        json_object_get(key, "in_place"), "root", json_object_get(key, "root"), "size",
        (json_int_t)asked->size, "answer", answers[made->answer], "sentence", sentence,
        "measured", measured_json(asked, key));

    if (made->answer != PROJECTION_DONE) {
        json_object_set_new(out, "measure", json_integer((json_int_t)made->measure));
        return out;
    }
    json_object_update_new(out, point_json(asked, key, &made->at));
    json_object_del(out, "nodes");
    json_object_set_new(out, "noise", json_real(made->noise));
    json_object_set_new(out, "model", model_json(asked, key, made));
    return out;
}

static void add_size(struct sweep *sweep, const json_t *key,
                     const struct projection_question *asked)
{
    struct projection made;
    char sentence[SENTENCE_MAX];

    projection_make(asked, &made);
    put_sentence(asked, key, &made, sentence);
    if (made.answer == PROJECTION_DONE || json_array_size(sweep->sizes) == 0)
        memcpy(sweep->sentence, sentence, sizeof(sentence));
    sweep->done += made.answer == PROJECTION_DONE;
    json_array_append_new(
        sweep->sizes,
        size_json(asked, key, &made, json_sprintf("%s%s", sentence, sweep->mark)));
}

static int add_series(struct sweep *sweep, const struct case_series *series)
{
    int kind = collective_lookup(json_get_str(series->key, "collective", ""));
    struct projection_question asked = {
        .kind = (enum collective_kind)kind, .nodes = sweep->nodes, .ranks = sweep->ranks};

    if (series->is_figure || kind < 0)
        return 0;
    if (gather(sweep, series->identity, &asked.n_points))
        return -1;
    asked.points = sweep->points;
    for (size_t i = 0; i < series->n_points; i++) {
        asked.size = series->points[i].size;
        add_size(sweep, series->key, &asked);
    }
    return 0;
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

static json_t *answer_of(struct sweep *sweep, const struct compare_run *runs, size_t n)
{
    const struct case_series *series = NULL;
    size_t n_series = 0, nodes = 0, ranks = 0;
    json_t *ids = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append(ids, json_object_get(runs[i].doc, "id"));
    if (sweep->most) {
        series =
            case_values_of(sweep->most->run->values, sweep->most->case_no, &n_series);
        nodes = compare_choice_nodes(sweep->most);
        ranks = compare_choice_ranks(sweep->most);
    }
    sweep->ranks = sweep->nodes;
    if (ranks > nodes)
        sweep->ranks = sweep->nodes * ranks / nodes;
    for (size_t i = 0; i < n_series; i++)
        if (add_series(sweep, &series[i])) {
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
    struct sweep sweep = {
        .nodes = nodes, .mark = verdict_mark_of(runs->doc), .sizes = json_array()};
    json_t *out = NULL;

    if (take_runs(&sweep, runs, n, err) == 0 && !(out = answer_of(&sweep, runs, n)))
        error_set(err, ERROR_MEMORY, "out of memory");
    compare_side_release(&sweep.side);
    json_decref(sweep.sizes);
    free(sweep.points);
    return out;
}
