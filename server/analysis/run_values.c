/* SPDX-License-Identifier: Apache-2.0 */
/* run_values.c - computes the values of a run for trends */
#include "server/analysis/run_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"
#include "common/spec/bands.h"
#include "server/analysis/level.h"
#include "server/analysis/likeness.h"

#define CONFIDENCE 0.95
#define WHAT "a run's values" /* names the allocation in out-of-memory errors */

/* ---- The whole run ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *run_values_nodes(const json_t *names)
{
    size_t n = json_array_size(names);
    const char **sorted = memory_zeroed(n + 1, sizeof(*sorted), WHAT);
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    for (size_t i = 0; i < n; i++)
        sorted[i] = json_string_value(json_array_get(names, i));
    qsort(sorted, n, sizeof(*sorted), compare_texts);
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s%s", i > 0 ? "," : "", sorted[i]);
    free(sorted);
    return buf_detach(&out, NULL);
}

static json_t *node_names(const json_t *run)
{
    const json_t *nodes = json_object_get(run, "nodes");
    json_t *names = json_array();

    for (size_t i = 0; i < json_array_size(nodes); i++)
        json_array_append(names, json_object_get(json_array_get(nodes, i), "name"));
    return names;
}

/* Add a machine's version to a list, unless the list already contains it. */
static void add_version(json_t *versions, const char *name, const char *version)
{
    const char *before = json_get_str(versions, name, NULL);

    if (!before)
        json_object_set_new(versions, name, json_string(version));
    else if (!strstr(before, version))
        json_object_set_new(versions, name, json_sprintf("%s, %s", before, version));
}

/* Return the software versions as a new object such as {"ringbench": "1.0", "nccl":
 * "2.27.3"}. If machines differ, the value lists all versions: "2.27.3, 2.26.2". */
static json_t *versions_json(const json_t *run)
{
    const json_t *machines = json_object_get(run, "machines");
    json_t *versions = json_object(), *value;
    const char *name;

    for (size_t i = 0; i < json_array_size(machines); i++) {
        json_t *its = json_object_get(json_array_get(machines, i), "versions");

        json_object_foreach (its, name, value)
            if (json_is_string(value))
                add_version(versions, name, json_string_value(value));
    }
    return versions;
}

/* ---- A series over the cases with the same variables ---- */

/* The cases of a combination, and scratch space for its values. */
struct lot {
    const json_t *run;
    const json_t *env;
    const struct case_values *values;
    const int *cases; /* completed cases */
    size_t n_cases;
    const struct case_series **series; /* the same series in each case */
    size_t *at;                        /* scratch: one point index per case */
    int64_t *sizes;                    /* scratch: one entry per size of the first case */
    double *means;                     /* scratch: one logarithm per case */
    json_t *out;                       /* array */
};

static bool all_above_0(const struct lot *lot)
{
    for (size_t i = 0; i < lot->n_cases; i++)
        if (!(case_series_figure(lot->series[i], lot->at[i]) > 0.0))
            return false;
    return true;
}

/* Collect the sizes of a band that all cases have, and each case's mean logarithm over
 * these sizes. Return the number of sizes. */
static size_t take_band(struct lot *lot, enum band band)
{
    size_t n = 0;
    int64_t size;

    for (size_t i = 0; i < lot->n_cases; i++) {
        lot->at[i] = 0;
        lot->means[i] = 0.0;
    }
    for (; case_series_meet(lot->series, lot->at, lot->n_cases, &size); lot->at[0]++) {
        if (band_of(size) != band || !all_above_0(lot))
            continue;
        for (size_t i = 0; i < lot->n_cases; i++)
            lot->means[i] += log(case_series_figure(lot->series[i], lot->at[i]));
        lot->sizes[n++] = size;
    }
    for (size_t i = 0; i < lot->n_cases; i++)
        lot->means[i] /= (double)n;
    return n;
}

/* Return the run's level, the extremes of its cases and, with enough cases, the level's
 * interval. */
static json_t *statistics_json(double *logs, size_t n)
{
    double level = level_of(logs, n), low, high;
    json_t *out = json_pack("{s:I, s:f, s:f, s:f, s:n, s:n}", "cases", (json_int_t)n,
                            "value", exp(level), "least", exp(logs[0]), "most",
                            exp(logs[n - 1]), "low", "high");

    if (order_stat_interval(logs, n, CONFIDENCE, &low, &high)) {
        json_object_set_new(out, "low", json_real(exp(low)));
        json_object_set_new(out, "high", json_real(exp(high)));
    }
    return out;
}

static void set_likeness(json_t *value, const char *name, const struct likeness *of,
                         enum run_likeness by)
{
    char *text = likeness_text(of, by);

    json_object_set_new(value, name, json_string(text));
    free(text);
}

static void add_band(struct lot *lot, enum band band)
{
    const json_t *key = lot->series[0]->key;
    struct likeness of = {lot->run, lot->env, key, band, lot->sizes, 0};
    char figure[LIKENESS_FIGURE_SIZE];
    json_t *value;

    of.n_sizes = take_band(lot, band);
    if (of.n_sizes == 0)
        return;
    value = statistics_json(lot->means, lot->n_cases);
    likeness_figure(json_get_str(key, "collective", "?"), json_get_str(key, "dtype", "?"),
                    json_get_bool(key, "in_place", false), band, figure);
    json_object_set_new(value, "figure", json_string(figure));
    set_likeness(value, "like_nodes", &of, LIKE_NODES);
    set_likeness(value, "like_hardware", &of, LIKE_HARDWARE);
    json_array_append_new(lot->out, value);
}

/* Return true if all cases have the series. A series that some cases lack does not show
 * the scatter of all cases, so it is omitted. */
static bool find_everywhere(struct lot *lot, const char *identity)
{
    for (size_t i = 0; i < lot->n_cases; i++) {
        size_t n;
        const struct case_series *list = case_values_of(lot->values, lot->cases[i], &n);

        lot->series[i] = case_series_find(list, n, identity);
        if (!lot->series[i])
            return false;
    }
    return true;
}

static void add_series(struct lot *lot, const struct case_series *first)
{
    if (first->is_figure || !find_everywhere(lot, first->identity))
        return;
    lot->sizes = memory_zeroed(first->n_points + 1, sizeof(*lot->sizes), WHAT);
    for (int band = 0; band < BANDS; band++)
        add_band(lot, (enum band)band);
    free(lot->sizes);
}

static void add_lot(struct lot *lot)
{
    const struct case_series *list;
    size_t n;

    if (lot->n_cases == 0)
        return;
    lot->series = memory_zeroed(lot->n_cases, sizeof(*lot->series), WHAT);
    lot->at = memory_zeroed(lot->n_cases, sizeof(*lot->at), WHAT);
    lot->means = memory_zeroed(lot->n_cases, sizeof(*lot->means), WHAT);
    list = case_values_of(lot->values, lot->cases[0], &n);
    for (size_t i = 0; i < n; i++)
        add_series(lot, &list[i]);
    free(lot->means);
    free(lot->at);
    free(lot->series);
}

/* ---- The run ---- */

static bool has_completed(const json_t *run, size_t i)
{
    const json_t *c = json_array_get(json_object_get(run, "cases"), i);

    return strcmp(json_get_str(c, "state", ""), "completed") == 0;
}

static void add_combination(const json_t *run, const struct case_values *values,
                            const struct summary_case *cases, size_t n, size_t first,
                            json_t *out)
{
    int *chosen = memory_zeroed(n + 1, sizeof(*chosen), WHAT);
    struct lot lot = {.run = run, .values = values, .cases = chosen, .out = out};

    for (size_t i = first; i < n; i++)
        if (cases[i].combination == cases[first].combination && has_completed(run, i))
            chosen[lot.n_cases++] = (int)i;
    lot.env =
        json_object_get(json_array_get(json_object_get(run, "cases"), first), "env");
    add_lot(&lot);
    free(chosen);
}

static json_t *values_json(const json_t *run, const struct case_values *values)
{
    size_t n = 0;
    struct summary_case *cases = summary_cases(run, &n);
    json_t *out = json_array();
    int next = 0;

    /* Cases on groups of nodes do not represent the run, so they are not comparable with
     * other runs. */
    if (json_object_get(json_array_get(json_object_get(run, "cases"), 0), "nodes"))
        n = 0;

    /* Combinations are numbered in the order of their first cases. */
    for (size_t i = 0; i < n; i++) {
        if (cases[i].combination == next) {
            add_combination(run, values, cases, n, i, out);
            next++;
        }
    }
    free(cases);
    return out;
}

json_t *run_values_json(const json_t *run, const struct case_values *values)
{
    json_t *names = node_names(run), *versions = versions_json(run);
    char *nodes = run_values_nodes(names), *text = json_text(versions);
    bool is_whole = strcmp(json_get_str(run, "state", ""), "completed") == 0;
    json_t *out = json_pack(
        "{s:s, s:I, s:b, s:s, s:s, s:I, s:s, s:o}", "name", json_get_str(run, "name", ""),
        "created_ms", (json_int_t)clock_parse_ms(json_get_str(run, "created", NULL)),
        "is_whole", (int)is_whole, "nodes", nodes, "backend",
        json_get_str(run, "backend", ""), "world_size",
        (json_int_t)json_get_int(run, "world_size", 0), "versions", text, "values",
        values_json(run, values));

    if (!out)
        memory_out(WHAT);
    json_decref(versions);
    json_decref(names);
    free(nodes);
    free(text);
    return out;
}
