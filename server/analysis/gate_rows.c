/* SPDX-License-Identifier: Apache-2.0 */
/* gate_rows.c - checks a threshold on the rows of collectives: times, bandwidths, and the
 * drop in bandwidth as the size grows */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/units.h"
#include "common/spec/run_matrix.h"
#include "common/spec/bands.h"
#include "server/analysis/gate_check.h"

/* The point furthest beyond the bounds or, if all points are within the bounds, the point
 * nearest to a bound. */
struct worst {
    const struct summary_series *series;
    const struct summary_point *point,
        *from; /* for a dip: the smaller size with the highest bandwidth */
    double value, room;
};

struct rows {
    const struct gate_run *run;
    const struct threshold *threshold;
    struct summary_case *cases;
    size_t n_cases;
    int64_t *counts; /* number of cases of each combination */
    int combinations;
    int64_t cycles;
    int64_t size_min,
        /* Range of row sizes. A row's size is the requested size, rounded down. */
        size_max;
    size_t n_sizes; /* requested sizes in that range */
    size_t points, beyond;
    struct worst worst;
    char gap[GATE_TEXT_MAX]; /* why the check cannot pass; "" if it can */
};

static const char *const units[] = {
    [THRESHOLD_TIME_US] = " us",
    [THRESHOLD_ALGBW_GBS] = " GB/s",
    [THRESHOLD_BUSBW_GBS] = " GB/s",
    [THRESHOLD_DIP_PERCENT] = " %",
};

static const char *const names[] = {
    [THRESHOLD_TIME_US] = "time",
    [THRESHOLD_ALGBW_GBS] = "algbw",
    [THRESHOLD_BUSBW_GBS] = "busbw",
    [THRESHOLD_DIP_PERCENT] = "busbw",
};

/* ---- Selecting rows ---- */

/* Return true if the threshold applies to a requested size. */
static bool is_asked(const struct threshold *threshold, int64_t size)
{
    return threshold_has_size(threshold, (uint64_t)size) &&
           (threshold->band < 0 || band_of(size) == (enum band)threshold->band);
}

/* Find the range of row sizes. A row's size is at most its requested size because of
 * rounding, but it is larger than the next smaller requested size. */
static void find_sizes(struct rows *rows)
{
    const json_t *sizes =
        json_object_get(json_object_get(rows->run->doc, "spec"), "sizes");
    const struct threshold *threshold = rows->threshold;

    rows->size_max = -1;
    for (size_t i = 0; i < json_array_size(sizes); i++) {
        int64_t asked = json_integer_value(json_array_get(sizes, i));

        rows->n_sizes += is_asked(threshold, asked);
        if (is_asked(threshold, asked) && asked > rows->size_max)
            rows->size_max = asked;
    }
    for (size_t i = 0; i < json_array_size(sizes); i++) {
        int64_t asked = json_integer_value(json_array_get(sizes, i));

        if (!is_asked(threshold, asked) && asked <= rows->size_max &&
            asked >= rows->size_min)
            rows->size_min = asked + 1;
    }
}

static bool is_meant(const char *name, const char *const wanted)
{
    return !wanted || (name && strcmp(name, wanted) == 0);
}

static bool suits(const struct threshold *threshold, const json_t *key)
{
    const char *collective =
        threshold->collective < 0
            ? NULL
            : collective_name((enum collective_kind)threshold->collective);
    const char *dtype =
        threshold->dtype < 0 ? NULL : dtype_name((enum dtype)threshold->dtype);
    const char *redop =
        threshold->redop < 0 ? NULL : redop_name((enum redop)threshold->redop);

    return is_meant(json_get_str(key, "collective", NULL), collective) &&
           is_meant(json_get_str(key, "dtype", NULL), dtype) &&
           is_meant(json_get_str(key, "redop", NULL), redop) &&
           (threshold->in_place < 0 ||
            json_get_bool(key, "in_place", false) == (threshold->in_place == 1));
}

/* Count the cases of each combination. Combinations are numbered in the order of their
 * first cases. */
static void count_cases(struct rows *rows)
{
    rows->cases = summary_cases(rows->run->doc, &rows->n_cases);
    rows->counts = memory_zeroed(rows->n_cases + 1, sizeof(*rows->counts),
                                 "a check of a run's rows");
    for (size_t i = 0; i < rows->n_cases; i++) {
        int combination = rows->cases[i].combination;

        rows->counts[combination]++;
        if (combination >= rows->combinations)
            rows->combinations = combination + 1;
    }
}

static int64_t cases_of(const struct rows *rows, int combination)
{
    bool is_there = combination >= 0 && combination < rows->combinations;

    return is_there ? rows->counts[combination] : 0;
}

/* ---- Evaluating rows ---- */

/* Record a gap. Only the first one is reported. */
static void note_gap(struct rows *rows, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void note_gap(struct rows *rows, const char *format, ...)
{
    va_list args;

    if (rows->gap[0])
        return;
    va_start(args, format);
    vsnprintf(rows->gap, sizeof(rows->gap), format, args);
    va_end(args);
}

static double figure_of(const struct threshold *threshold,
                        const struct summary_point *point)
{
    switch (threshold->figure) {
    case THRESHOLD_TIME_US:
        return point->time_us;
    case THRESHOLD_ALGBW_GBS:
        return point->algbw_gbs;
    default:
        return point->busbw_gbs;
    }
}

static void take_value(struct rows *rows, const struct worst *found)
{
    rows->points++;
    rows->beyond += !gate_is_within(rows->threshold, found->value);
    if (!rows->worst.series || found->room < rows->worst.room)
        rows->worst = *found;
}

/* Return true if the point has a figure. A bandwidth of 0 means that nothing was
 * measured, or that a single rank used no bus. */
static bool has_figure(struct rows *rows, const struct summary_point *point)
{
    double value = figure_of(rows->threshold, point);
    char size[UNITS_TEXT_MAX];

    if (point->skipped == 0 && point->rows > 0 && isfinite(value) && value > 0.0)
        return true;
    units_format_size((uint64_t)point->size, size);
    if (point->skipped > 0)
        note_gap(rows, "%s was skipped: %.120s", size,
                 point->reason ? point->reason : "no reason given");
    else if (point->rows > 0 && !(isfinite(value) && value > 0.0))
        note_gap(rows, "%s at %s is not a number above 0", names[rows->threshold->figure],
                 size);
    return point->rows > 0 && isfinite(value) && value > 0.0;
}

static void take_series(struct rows *rows, const struct summary_series *series)
{
    const struct threshold *threshold = rows->threshold;
    const struct summary_point *best = NULL;
    int64_t expected =
        cases_of(rows, series->combination) * rows->cycles * (int64_t)rows->n_sizes;
    int64_t there = 0;

    for (size_t i = 0; i < series->n_points; i++) {
        const struct summary_point *point = &series->points[i];
        struct worst found = {.series = series, .point = point};

        if (point->size < rows->size_min || point->size > rows->size_max)
            continue;
        there += point->rows + point->skipped;
        if (!has_figure(rows, point))
            continue;
        found.value = figure_of(threshold, point);
        if (threshold->figure == THRESHOLD_DIP_PERCENT) {
            found.from = best;
            best = !best || point->busbw_gbs > best->busbw_gbs ? point : best;
            if (!found.from)
                continue;
            found.value = 100.0 * (1.0 - point->busbw_gbs / found.from->busbw_gbs);
            found.value = found.value > 0.0 ? found.value : 0.0;
        }
        found.room = gate_room(threshold, found.value);
        take_value(rows, &found);
    }
    if (there != expected)
        note_gap(rows, "%lld of %lld expected rows are present", (long long)there,
                 (long long)expected);
}

/* Evaluate every combination of the matrix. Each combination has separate series. */
static void take_all(struct rows *rows)
{
    const struct summary *summary = rows->run->summary;
    int seen = -1, found = 0;

    for (size_t i = 0; i < summary->n_series; i++) {
        const struct summary_series *series = &summary->series[i];

        if (!suits(rows->threshold, series->key))
            continue;
        found += series->combination != seen; /* series are ordered by combination */
        seen = series->combination;
        take_series(rows, series);
    }
    if (found < rows->combinations)
        note_gap(rows, found
                           ? "the check selects no row in some of the run's combinations"
                           : "the check selects no row");
    if (summary->points < summary->points_total)
        note_gap(rows, "the run contains too many rows to check");
}

/* ---- Reporting ---- */

/* Return the combination's first case. */
static const json_t *case_of(const struct rows *rows, int combination)
{
    const json_t *cases = json_object_get(rows->run->doc, "cases");

    for (size_t i = 0; i < rows->n_cases; i++)
        if (rows->cases[i].combination == combination)
            return json_array_get(cases, i);
    return NULL;
}

static json_t *evidence(const struct rows *rows)
{
    const struct worst *worst = &rows->worst;
    const json_t *c = case_of(rows, worst->series->combination);
    json_t *out = gate_evidence(rows->threshold, worst->value);

    json_object_set_new(out, "points", json_integer((json_int_t)rows->points));
    json_object_set_new(out, "beyond", json_integer((json_int_t)rows->beyond));
    json_object_set_new(out, "size", json_integer(worst->point->size));
    if (worst->from)
        json_object_set_new(out, "from_size", json_integer(worst->from->size));
    json_object_set(out, "series", worst->series->key);
    if (json_object_get(c, "env"))
        json_object_set(out, "env", json_object_get(c, "env"));
    if (json_object_get(c, "nodes"))
        json_object_set(out, "nodes", json_object_get(c, "nodes"));
    return out;
}

static void say(const struct rows *rows, struct gate_check *check)
{
    const struct worst *worst = &rows->worst;
    const json_t *c = case_of(rows, worst->series->combination);
    enum threshold_figure figure = rows->threshold->figure;
    const char *redop = json_get_str(worst->series->key, "redop", "none");
    char env[GATE_TEXT_MAX / 2];

    gate_say(
        check, rows->threshold,
        "[{falls?}busbw falls by {value} % from {from_size:size} to "
        "{size:size}|{from_size?}busbw never falls|{name} is {value}{unit} at "
        "{size:size}] ({series.collective} {series.dtype}[{reduces?} {series.redop}], "
        "[{series.in_place?}in|out of] place{env_text}), " GATE_BOUNDS
        " required[{are_beyond?}; out of bounds at {beyond} of {points} points]",
        json_pack("{s:b, s:s, s:s, s:b, s:o, s:b}", "falls",
                  worst->from && worst->value > 0.0, "name", names[figure], "unit",
                  units[figure], "reduces", strcmp(redop, "none") != 0, "env_text",
                  json_clean_string(run_matrix_case_text(c, env, sizeof(env))),
                  "are_beyond", rows->beyond > 0 && rows->points > 1));
}

/* Fail if a value is beyond the bounds, even if data are missing. With missing data,
 * values within the bounds do not pass. */
static void judge(struct rows *rows, struct gate_check *check)
{
    if (rows->points == 0)
        note_gap(rows, rows->threshold->figure == THRESHOLD_DIP_PERCENT
                           ? "a dip can be found only with two or more sizes"
                           : "the check selects no row");
    if (rows->points > 0)
        check->evidence = evidence(rows);
    if (rows->beyond == 0 && rows->gap[0]) {
        gate_not_evaluated(check, "%s", rows->gap);
        return;
    }
    check->answer = rows->beyond > 0 ? VERDICT_FAIL : VERDICT_PASS;
    say(rows, check);
}

void gate_check_rows(const struct gate_run *run, const struct threshold *threshold,
                     struct gate_check *check)
{
    const json_t *spec = json_object_get(run->doc, "spec");
    struct rows rows = {
        .run = run, .threshold = threshold, .cycles = json_get_int(spec, "cycles", 1)};

    count_cases(&rows);
    find_sizes(&rows);
    take_all(&rows);
    judge(&rows, check);
    free(rows.counts);
    free(rows.cases);
}
