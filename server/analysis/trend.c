/* trend.c - what a figure did over time */
#include "server/analysis/trend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/change_points.h"
#include "server/finding/verdict.h"
#include "server/store/store_trends.h"

#define SENTENCE_MAX 1000

/* A row of the window. */
enum { AT_SERIES, AT_VALUE, AT_RUN, AT_CREATED, AT_VERSIONS };

/* One series of the page; its runs are oldest first. */
struct history {
    json_int_t series;
    const json_t **rows; /* of the window */
    double *levels;      /* logarithms of their values */
    size_t n;
    struct change_point found[CHANGE_POINTS_MAX];
    int n_found;
    double p; /* that nothing changed */
};

struct trend {
    const struct trend_figure *figure;
    double margin; /* a logarithm */
    double level;  /* of false discoveries */
    const json_t *texts;
    struct history *histories;
    size_t n;
    const json_t *rows[STORE_TREND_WINDOW]; /* of all histories */
    double levels[STORE_TREND_WINDOW];
    size_t n_judged; /* histories with enough runs */
    double p_max;    /* a history with a greater p may show a change by chance */
    json_t *out;
};

static const char *unit_of(enum band band)
{
    return band_higher_is_better(band) ? "GB/s" : "us";
}

json_t *trend_figure_json(const struct trend_figure *figure)
{
    return json_pack("{s:s, s:s, s:b, s:s, s:s, s:s, s:b}", "collective",
                     figure->collective, "dtype", figure->dtype, "in_place",
                     (int)figure->in_place, "band", band_names[figure->band], "name",
                     band_figure_name(band_figure(figure->band)), "unit",
                     unit_of(figure->band), "higher_is_better",
                     (int)band_higher_is_better(figure->band));
}

static json_t *cell(const json_t *row, size_t at)
{
    return json_array_get(row, at);
}

/* ---- Versions before and since ---- */

static json_t *versions_of(const struct trend *trend, const json_t *row)
{
    char name[24];
    const char *text;

    snprintf(name, sizeof(name), "%lld",
             (long long)json_integer_value(cell(row, AT_VERSIONS)));
    text = json_get_str(trend->texts, name, "{}");
    return json_parse(text, strlen(text), NULL);
}

/* {name: [before, since]} of those that differ between two rows; null: not known. */
static json_t *differing_versions(const struct trend *trend, const json_t *row_before,
                                  const json_t *row_since)
{
    json_t *before = versions_of(trend, row_before);
    json_t *since = versions_of(trend, row_since);
    json_t *all = json_object(), *value, *out = json_object();
    const char *name;

    json_object_update(all, before);
    json_object_update(all, since);
    json_object_foreach (all, name, value) {
        json_t *old = json_object_get(before, name), *new = json_object_get(since, name);

        if (!json_equal(old, new))
            json_object_set_new(out, name, json_pack("[O?, O?]", old, new));
    }
    json_decref(all);
    json_decref(before);
    json_decref(since);
    return out;
}

static const char *text_or_none(const json_t *value)
{
    return json_is_string(value) ? json_string_value(value) : "none";
}

/* "; with nccl 2.27.3, was 2.26.2" */
static void put_versions(const json_t *versions, struct buf *out)
{
    const char *name;
    json_t *pair;
    size_t n = 0;

    json_object_foreach ((json_t *)(uintptr_t)versions, name, pair)
        buf_printf(out, "%s%s %s, was %s", n++ > 0 ? "; " : "; with ", name,
                   text_or_none(json_array_get(pair, 1)),
                   text_or_none(json_array_get(pair, 0)));
}

/* ---- Verdicts ---- */

static double part_of(double change)
{
    return expm1(change);
}

static const char *run_at(const struct history *history, size_t i)
{
    return json_string_value(cell(history->rows[i], AT_RUN));
}

static bool is_better(const struct trend *trend, double change)
{
    return (change > 0) == band_higher_is_better(trend->figure->band);
}

/* point: the change, or NULL where there is none; evidence: taken. */
static void add_verdict(const struct trend *trend, const struct history *history,
                        const struct change_point *point, enum verdict_answer answer,
                        const struct buf *sentence, json_t *evidence)
{
    bool is_judged = history->n >= CHANGE_POINTS_LEVELS_MIN;
    json_t *verdict = verdict_json(VERDICT_CHANGE, answer,
                                   sentence->data ? sentence->data : "", NULL, evidence);
    char created[CLOCK_TEXT_MAX] = "";

    if (point)
        clock_format_ms(
            json_integer_value(cell(history->rows[point->split.at], AT_CREATED)),
            created);
    json_array_append_new(
        trend->out,
        json_pack("{s:I, s:s?, s:s?, s:o, s:o, s:o}", "series", history->series, "run",
                  point ? run_at(history, point->split.at) : NULL, "created",
                  point ? created : NULL, "change",
                  point ? json_real(part_of(point->split.change)) : json_null(), "p",
                  is_judged ? json_real(history->p) : json_null(), "verdict", verdict));
}

static const struct change_point *strongest(const struct history *history)
{
    const struct change_point *most = &history->found[0];

    for (int i = 1; i < history->n_found; i++)
        if (history->found[i].split.p < most->split.p)
            most = &history->found[i];
    return most;
}

static void put_doubtful(const struct trend *trend, const struct history *history,
                         struct buf *out)
{
    const struct level_split *split = &strongest(history)->split;

    buf_printf(out,
               "no certain change in %zu runs: %.1f %% %s from run %s on may be chance, "
               "given the number of series shown",
               history->n, fabs(part_of(split->change)) * 100.0,
               is_better(trend, split->change) ? "faster" : "slower",
               run_at(history, split->at));
}

static void add_unchanged(const struct trend *trend, const struct history *history)
{
    enum verdict_answer answer = VERDICT_NONE;
    struct buf sentence;

    buf_init(&sentence, SENTENCE_MAX);
    if (history->n < CHANGE_POINTS_LEVELS_MIN) {
        answer = VERDICT_NOT_ENOUGH_DATA;
        buf_printf(&sentence, "%zu of the %d runs that are needed to see a change",
                   history->n, CHANGE_POINTS_LEVELS_MIN);
    } else if (history->n_found > 0) {
        put_doubtful(trend, history, &sentence);
    } else {
        buf_printf(&sentence, "no change found in %zu runs", history->n);
    }
    add_verdict(trend, history, NULL, answer, &sentence,
                json_pack("{s:I}", "runs", (json_int_t)history->n));
    buf_release(&sentence);
}

static json_t *side_json(double level, size_t runs)
{
    return json_pack("{s:f, s:I}", "level", exp(level), "runs", (json_int_t)runs);
}

static json_t *evidence_json(const struct history *history,
                             const struct change_point *point, json_t *versions)
{
    const struct level_split *split = &point->split;

    return json_pack("{s:o, s:o, s:f, s:f, s:f, s:s, s:s, s:s, s:I, s:O}", "before",
                     side_json(point->before, point->n_before), "since",
                     side_json(point->after, point->n_after), "low", part_of(split->low),
                     "high", part_of(split->high), "p", split->p, "last_before",
                     run_at(history, split->at - 1), "earliest",
                     run_at(history, split->earliest), "latest",
                     run_at(history, split->latest), "runs", (json_int_t)history->n,
                     "versions", versions);
}

/* "3.1 % slower from run 06cw on (all_reduce float32 from 4M up: 44.7 GB/s over 8 runs,
 * before 46.1 over 12)" */
static void put_change(const struct trend *trend, const struct history *history,
                       const struct change_point *point, struct buf *out)
{
    const struct trend_figure *figure = trend->figure;
    const char *run = run_at(history, point->split.at);

    buf_printf(out, "%.1f %% %s ", fabs(part_of(point->split.change)) * 100.0,
               is_better(trend, point->split.change) ? "faster" : "slower");
    if (point->split.at + 1 == history->n)
        buf_printf(out, "in the last run, %s", run);
    else
        buf_printf(out, "from run %s on", run);
    buf_printf(out, " (%s %s%s %s: %.4g %s over %zu run%s, before %.4g over %zu)",
               figure->collective, figure->dtype, figure->in_place ? " in place" : "",
               band_where(figure->band), exp(point->after), unit_of(figure->band),
               point->n_after, point->n_after == 1 ? "" : "s", exp(point->before),
               point->n_before);
}

/* Versions are named only if they changed where the change can have come. */
static void add_change(const struct trend *trend, const struct history *history,
                       const struct change_point *point)
{
    const struct level_split *split = &point->split;
    json_t *versions = differing_versions(trend, history->rows[split->earliest - 1],
                                          history->rows[split->latest]);
    struct buf sentence;

    buf_init(&sentence, SENTENCE_MAX);
    put_change(trend, history, point, &sentence);
    if (split->earliest < split->latest && json_object_size(versions) > 0)
        buf_printf(&sentence, "; it began with one of the runs %s to %s",
                   run_at(history, split->earliest), run_at(history, split->latest));
    put_versions(versions, &sentence);
    add_verdict(trend, history, point,
                is_better(trend, split->change) ? VERDICT_BETTER : VERDICT_WORSE,
                &sentence, evidence_json(history, point, versions));
    json_decref(versions);
    buf_release(&sentence);
}

static void add_verdicts(const struct trend *trend, const struct history *history)
{
    bool is_certain = history->n_found > 0 && history->p <= trend->p_max;

    if (!is_certain)
        add_unchanged(trend, history);
    for (int i = history->n_found - 1; i >= 0 && is_certain; i--)
        add_change(trend, history, &history->found[i]);
}

/* ---- The series of a page ---- */

static bool is_known(const struct trend *trend, json_int_t series)
{
    for (size_t i = 0; i < trend->n; i++)
        if (trend->histories[i].series == series)
            return true;
    return false;
}

/* Take its rows from the window, which has the newest first. A value of 0, as the bus
 * bandwidth of a single rank, has no logarithm. Returns how many there are. */
static size_t gather(struct history *history, const json_t *window)
{
    for (size_t i = json_array_size(window); i-- > 0;) {
        const json_t *row = json_array_get(window, i);
        double value = json_number_value(cell(row, AT_VALUE));

        if (json_integer_value(cell(row, AT_SERIES)) != history->series || value <= 0.0)
            continue;
        history->levels[history->n] = log(value);
        history->rows[history->n++] = row;
    }
    return history->n;
}

static void find_changes(struct history *history, double margin)
{
    history->n_found = change_points_find(history->levels, history->n, margin,
                                          history->found, &history->p);
}

static void read_histories(struct trend *trend, const json_t *points,
                           const json_t *window)
{
    size_t used = 0;

    for (size_t i = 0; i < json_array_size(points); i++) {
        json_int_t series = json_get_int(json_array_get(points, i), "series", 0);
        struct history *history = &trend->histories[trend->n];

        if (is_known(trend, series))
            continue;
        trend->n++;
        history->series = series;
        history->rows = trend->rows + used;
        history->levels = trend->levels + used;
        used += gather(history, window);
        find_changes(history, trend->margin);
    }
}

/* A page with many series shows some change by chance. */
static void control_false_discoveries(struct trend *trend)
{
    double *p = memory_zeroed(trend->n + 1, sizeof(*p), "a trend");

    for (size_t i = 0; i < trend->n; i++)
        if (trend->histories[i].n >= CHANGE_POINTS_LEVELS_MIN)
            p[trend->n_judged++] = trend->histories[i].p;
    trend->p_max = stats_discoveries(p, trend->n_judged, trend->level);
    free(p);
}

static void mark_points(json_t *points, const json_t *verdicts)
{
    json_t *point, *item;
    size_t i, k;

    json_array_foreach (points, i, point) {
        json_object_set_new(point, "change", json_null());
        json_array_foreach ((json_t *)(uintptr_t)verdicts, k, item)
            if (json_equal(json_object_get(item, "run"), json_object_get(point, "run")) &&
                json_equal(json_object_get(item, "series"),
                           json_object_get(point, "series")))
                json_object_set(point, "change", json_object_get(item, "change"));
    }
}

json_t *trend_verdicts(json_t *answer, const struct trend_figure *figure, double margin,
                       size_t requests)
{
    json_t *points = json_object_get(answer, "points"), *out = json_array();
    struct trend *trend = memory_zeroed(1, sizeof(*trend), "a trend");

    *trend = (struct trend){.figure = figure,
                            .margin = log1p(margin),
                            .level = CHANGE_POINTS_LEVEL / (double)requests,
                            .out = out};
    trend->histories =
        memory_zeroed(json_array_size(points) + 1, sizeof(*trend->histories), "a trend");
    trend->texts = json_object_get(answer, "texts");
    read_histories(trend, points, json_object_get(answer, "window"));
    control_false_discoveries(trend);
    for (size_t i = 0; i < trend->n; i++)
        add_verdicts(trend, &trend->histories[i]);
    free(trend->histories);
    free(trend);
    mark_points(points, out);
    return out;
}
