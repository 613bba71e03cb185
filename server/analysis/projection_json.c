/* projection_json.c - the sizes of runs on more nodes, and the sentence */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/differences.h"
#include "server/analysis/projection.h"
#include "server/finding/finding.h"
#include "server/finding/template.h"

struct sweep {
    struct compare_side side; /* completed cases with the first one's variables */
    const struct compare_choice *most; /* the last case with the most nodes */
    struct projection_point *points;   /* of one series */
    struct projection_question asked;  /* about one of its sizes */
    const json_t *key;                 /* of the series */
    const char *mark;                  /* verdict.h */
    json_t *sizes;
    size_t done;
    json_t *sentence; /* the last projected size's, or the first one's; or NULL */
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

static const struct {
    const char *name, *sentence; /* template.h; members of the series, too */
} answers[PROJECTION_ANSWERS] = {
    [PROJECTION_DONE] =
        {"projected", "on {nodes} nodes {collective} {dtype} of {size:size} would take "
                      "{time_us} us (95 % interval {low_us} to {high_us}), busbw "
                      "{busbw_gbs} GB/s"},
    [PROJECTION_FAR] = {"too_far", "{nodes} nodes are more than {factor} times the most "
                                   "that were measured; measure {measure}"},
    [PROJECTION_FEW] = {"too_few_times",
                        "a projection of {size:size} needs {counts_min} node counts of "
                        "{nodes_min} or more (there are {counts}), and {sizes_min} sizes "
                        "from {from:size} to {to:size} (there are {sizes}); measure "
                        "{measure} nodes"},
    [PROJECTION_WIDE] = {"interval_too_wide",
                         "on {nodes} nodes {size:size} would take {time_us} us, but the "
                         "95 % interval is too wide, since times from {from:size} to "
                         "{to:size} are {noise:.0%} off the model; measure {measure} "
                         "nodes, or set NCCL_ALGO and NCCL_PROTO"},
};

static json_t *sentence_of(const struct sweep *sweep, const struct projection *made)
{
    const struct projection_question *asked = &sweep->asked;
    const struct projection_point *at = &made->model[0];
    json_t *members =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:i}", "nodes",
                  (json_int_t)asked->nodes, "measure", (json_int_t)made->measure, "size",
                  (json_int_t)asked->size, "from", (json_int_t)made->size_from, "to",
                  (json_int_t)made->size_to, "counts", (json_int_t)made->n_counts,
                  "sizes", (json_int_t)made->n_sizes, "factor", PROJECTION_FACTOR_MAX,
                  "counts_min", PROJECTION_COUNTS_MIN, "nodes_min", PROJECTION_NODES_MIN,
                  "sizes_min", PROJECTION_SIZES_MIN);
    json_t *text;

    if (made->answer == PROJECTION_DONE || made->answer == PROJECTION_WIDE)
        json_object_update_new(members, json_pack("{s:f, s:f}", "time_us", at->time_us,
                                                  "noise", made->noise));
    if (made->answer == PROJECTION_DONE)
        json_object_update_new(members, json_pack("{s:f, s:f, s:f}", "low_us", at->low_us,
                                                  "high_us", at->high_us, "busbw_gbs",
                                                  busbw_gbs(sweep, at)));
    text = template_text(answers[made->answer].sentence, members, sweep->key);
    json_decref(members);
    return text;
}

static void add_size(struct sweep *sweep, int64_t size)
{
    static const char *const named[] = {"collective", "dtype", "redop", "in_place",
                                        "root"};
    struct projection made;
    json_t *out, *sentence;

    sweep->asked.size = size;
    projection_make(&sweep->asked, &made);
    sentence = sentence_of(sweep, &made);
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
    if (made.answer == PROJECTION_DONE || json_array_size(sweep->sizes) == 0) {
        json_decref(sweep->sentence);
        sweep->sentence = json_incref(sentence);
    }
    json_object_set_new(out, "size", json_integer(size));
    json_object_set_new(out, "answer", json_string(answers[made.answer].name));
    json_object_set_new(out, "sentence",
                        json_sprintf("%s%s", json_string_value(sentence), sweep->mark));
    json_decref(sentence);
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
    struct finding finding = finding_begin();
    size_t sizes = json_array_size(sweep->sizes);

    finding_put(&finding, "{s:I, s:I, s:I, s:O*}", "projected", (json_int_t)sweep->done,
                "refused", (json_int_t)(sizes - sweep->done), "$sizes", (json_int_t)sizes,
                "$sentence", sweep->sentence);
    return finding_end(&finding,
                       sweep->done > 0 ? MESSAGE_PROJECTED : MESSAGE_NOT_PROJECTED,
                       sweep->mark);
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
    json_decref(sweep.sentence);
    free(sweep.points);
    return out;
}
