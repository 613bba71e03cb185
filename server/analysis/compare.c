/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - compares the cases of head with those of base */
#include "server/analysis/compare.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/compare_judge.h"

/* The sums of a band, one for each case, base first. */
struct sums {
    double *logs, *plain;
    bool has_others; /* the band contains values of 0 or less, which have no logarithm */
};

/* State of the iteration over one series. */
struct walk {
    const struct compare_sides *sides;
    struct compare *out;
    struct sums *sums;                 /* one for each band */
    size_t n_cases;                    /* number of cases of base and head */
    size_t n_all;                      /* number of cases including the history */
    const struct case_series **series; /* the same series in each case */
    size_t *at;                        /* index of the current point, for each case */
    double *values;                    /* values of one size, one for each case */
};

static const char *const reasons[COMPARE_REASONS] = {
    [COMPARE_CLEAR] = "clear",       [COMPARE_FEW] = "too_few_cases",
    [COMPARE_RUNS] = "too_few_runs", [COMPARE_STATES] = "two_states",
    [COMPARE_NOISE] = "noise",
};

const char *compare_reason_name(enum compare_reason reason)
{
    return reasons[reason];
}

void compare_destroy(struct compare *compare)
{
    if (!compare)
        return;
    for (size_t i = 0; i < compare->n_bands; i++)
        json_decref(compare->bands[i].about);
    free(compare->bands);
    free(compare->sizes);
    free(compare);
}

static const struct compare_lot *lot_of(const struct compare_sides *sides, size_t i)
{
    if (i < sides->n_base)
        return &sides->base[i];
    i -= sides->n_base;
    return i < sides->n_head ? &sides->head[i] : &sides->history[i - sides->n_head];
}

/* ---- Bands ---- */

/* Return the fields that identify a band's subject. Rows that differ only in root,
 * placement, group or rank share a band. */
static json_t *about_of(const struct case_series *series)
{
    static const char *const rows[] = {"collective", "dtype", "redop", NULL};
    static const char *const figures[] = {"metric", "unit", "labels", NULL};
    const char *const *names = series->is_figure ? figures : rows;
    json_t *about = json_object();

    for (; *names; names++) {
        json_t *value = json_object_get(series->key, *names);

        if (value && !(json_is_object(value) && json_object_size(value) == 0))
            json_object_set(about, *names, value);
    }
    return about;
}

static void add_sums(struct walk *walk)
{
    struct sums *sums = &walk->sums[walk->out->n_bands];

    *sums = (struct sums){
        .logs = memory_zeroed(walk->n_all, sizeof(double), "a comparison"),
        .plain = memory_zeroed(walk->n_all, sizeof(double), "a comparison"),
    };
}

static void grow_bands(struct walk *walk)
{
    struct compare *out = walk->out;
    size_t capacity = out->bands_capacity;

    out->bands = memory_grown(out->bands, out->n_bands, &out->bands_capacity,
                              sizeof(*out->bands), "the bands of a comparison");
    walk->sums = memory_grown(walk->sums, out->n_bands, &capacity, sizeof(*walk->sums),
                              "the bands of a comparison");
}

/* Return the index of the band for a series and size, and create the band if needed.
 * `about` identifies the series. Return SIZE_MAX if there are too many bands. */
static size_t band_at(struct walk *walk, const struct case_series *series, json_t *about,
                      int64_t size)
{
    enum band band = size < 0 ? BANDS : band_of(size);
    struct compare *out = walk->out;
    struct compare_band *made;

    for (size_t i = out->n_bands; i-- > 0;)
        if (out->bands[i].band == band && json_equal(out->bands[i].about, about))
            return i;
    if (out->n_bands == COMPARE_BANDS_MAX)
        return SIZE_MAX;
    grow_bands(walk);
    add_sums(walk);
    made = &out->bands[out->n_bands];
    *made = (struct compare_band){.about = json_incref(about), .band = band};
    if (series->is_figure) {
        made->figure = json_get_str(about, "metric", "");
        made->higher_is_better = json_get_bool(series->key, "higher_is_better", true);
    } else {
        made->figure = band_figure_name(band_figure(band));
        made->higher_is_better = band_higher_is_better(band);
    }
    return out->n_bands++;
}

/* ---- Sizes ---- */

/* Return the value for a size from a case of the history, or NaN if the case lacks the
 * size. */
static double past_figure(struct walk *walk, size_t i, int64_t size)
{
    const struct case_series *series = walk->series[i];
    size_t *at = &walk->at[i];

    while (series && *at < series->n_points && series->points[*at].size < size)
        ++*at;
    if (!series || *at == series->n_points || series->points[*at].size != size)
        return (double)NAN;
    return case_series_figure(series, *at);
}

static int take_size(struct walk *walk, json_t *about, int64_t size)
{
    struct compare *out = walk->out;
    size_t number = band_at(walk, walk->series[0], about, size);
    struct compare_size *entry;
    struct sums *sums;
    bool is_linear = false;

    if (number == SIZE_MAX)
        return -1;
    sums = &walk->sums[number];
    for (size_t i = 0; i < walk->n_all; i++) {
        bool is_past = i >= walk->n_cases;
        double value = is_past ? past_figure(walk, i, size)
                               : case_series_figure(walk->series[i], walk->at[i]);

        walk->values[i] = value;
        is_linear = is_linear || (!is_past && !(value > 0));
        sums->plain[i] += value;
        sums->logs[i] += value > 0 ? log(value) : is_past ? (double)NAN : 0;
    }
    sums->has_others = sums->has_others || is_linear;
    out->bands[number].sizes++;
    out->sizes_total++;
    if (out->n_sizes == COMPARE_SIZES_MAX)
        return 0;
    entry = &out->sizes[out->n_sizes++];
    *entry =
        (struct compare_size){.series = walk->series[0], .band = number, .size = size};
    for (size_t i = 0; i < walk->n_all && !is_linear; i++)
        walk->values[i] = walk->values[i] > 0 ? log(walk->values[i]) : (double)NAN;
    compare_judge_change(walk->sides, walk->values, is_linear, &entry->change,
                         &entry->effect);
    return 0;
}

static int take_series(struct walk *walk, const struct case_series *first)
{
    size_t before = walk->out->sizes_total;
    json_t *about = about_of(first);
    bool is_everywhere = true;
    int64_t size;
    int result = 0;

    for (size_t i = 0; i < walk->n_all; i++) {
        const struct compare_lot *lot = lot_of(walk->sides, i);
        size_t n;
        const struct case_series *list = case_values_of(lot->values, lot->case_no, &n);

        walk->series[i] = case_series_find(list, n, first->identity);
        walk->at[i] = 0;
        is_everywhere = is_everywhere && (walk->series[i] || i >= walk->n_cases);
    }
    while (is_everywhere && !result &&
           case_series_meet(walk->series, walk->at, walk->n_cases, &size)) {
        result = take_size(walk, about, size);
        walk->at[0]++;
    }
    walk->out->sizes_left_out += first->n_points - (walk->out->sizes_total - before);
    json_decref(about);
    return result;
}

static int take_all(struct walk *walk)
{
    const struct compare_lot *lot = lot_of(walk->sides, 0);
    size_t n;
    const struct case_series *list = case_values_of(lot->values, lot->case_no, &n);

    for (size_t i = 0; i < n; i++)
        if (take_series(walk, &list[i]))
            return -1;
    return 0;
}

/* ---- All bands ---- */

/* Return one value for each case of a band: the mean over the band's sizes. */
static const double *band_values(const struct walk *walk, size_t i)
{
    struct compare_band *band = &walk->out->bands[i];
    const struct sums *sums = &walk->sums[i];
    double *values = sums->has_others ? sums->plain : sums->logs;

    band->is_linear = sums->has_others;
    for (size_t k = 0; k < walk->n_all; k++)
        values[k] /= (double)band->sizes;
    return values;
}

static void judge_all(struct walk *walk)
{
    struct compare *out = walk->out;

    for (size_t i = 0; i < out->n_bands; i++)
        compare_judge_band(walk->sides, band_values(walk, i), &out->bands[i]);
    compare_judge_all(out);
}

static void walk_init(struct walk *walk)
{
    size_t n = walk->n_all + 1;

    walk->series = memory_zeroed(n, sizeof(struct case_series *), "a comparison");
    walk->at = memory_zeroed(n, sizeof(*walk->at), "a comparison");
    walk->values = memory_zeroed(n, sizeof(*walk->values), "a comparison");
    walk->out->sizes =
        memory_zeroed(COMPARE_SIZES_MAX, sizeof(*walk->out->sizes), "a comparison");
}

static void walk_release(struct walk *walk)
{
    for (size_t i = 0; i < walk->out->n_bands; i++) {
        free(walk->sums[i].logs);
        free(walk->sums[i].plain);
    }
    free(walk->sums);
    free(walk->series);
    free(walk->at);
    free(walk->values);
}

static struct compare *result_create(const struct compare_sides *sides)
{
    struct compare *out = memory_zeroed(1, sizeof(*out), "a comparison");

    out->n_base = sides->n_base;
    out->n_head = sides->n_head;
    out->is_paired = sides->is_paired;
    out->by_run = sides->by_run;
    out->margin = sides->margin;
    out->base_runs = compare_count_runs(sides->base, sides->n_base);
    out->head_runs = compare_count_runs(sides->head, sides->n_head);
    out->history = compare_count_runs(sides->history, sides->n_history);
    out->answer = VERDICT_NOT_ENOUGH_DATA;
    return out;
}

/* Reject too many bands. A label whose value differs in every line would create a band
 * per line, and no band could get a verdict. */
struct compare *compare_create(const struct compare_sides *sides, struct error *err)
{
    struct compare *out = result_create(sides);
    struct walk walk = {.sides = sides,
                        .out = out,
                        .n_cases = sides->n_base + sides->n_head,
                        .n_all = sides->n_base + sides->n_head + sides->n_history};
    int result = 0;

    assert(!sides->is_paired || (sides->n_base == sides->n_head && !sides->by_run));
    walk_init(&walk);
    if (sides->n_base > 0 && sides->n_head > 0)
        result = take_all(&walk);
    if (!result)
        judge_all(&walk);
    walk_release(&walk);
    if (result == 0)
        return out;
    error_set(err, ERROR_INVALID,
              "there are more than %d bands to compare. Each combination of a metric's "
              "labels is "
              "a band: use labels with few values, or with numbers",
              COMPARE_BANDS_MAX);
    compare_destroy(out);
    return NULL;
}
