/* SPDX-License-Identifier: Apache-2.0 */
/* trend.c - finds changes of a figure over time */
#include "server/analysis/trend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/change_points.h"
#include "server/finding/finding.h"
#include "server/store/store_trends.h"

/* Indexes of the columns of a row in the window. */
enum { AT_SERIES, AT_VALUE, AT_RUN, AT_CREATED, AT_VERSIONS };

/* A series on the page, with its runs ordered from oldest to newest. */
struct history {
    json_int_t series;
    const json_t **rows; /* the series' rows in the window */
    double *levels;      /* logarithms of the rows' values */
    size_t n;
    struct change_point found[CHANGE_POINTS_MAX];
    int n_found;
    double p; /* probability of such levels if nothing changed */
};

struct trend {
    const struct trend_figure *figure;
    double margin; /* margin as a logarithm */
    double level;  /* false discovery rate */
    const json_t *texts;
    struct history *histories;
    size_t n;
    const json_t *rows[STORE_TREND_WINDOW]; /* storage for the rows of all histories */
    double levels[STORE_TREND_WINDOW];
    size_t n_judged; /* histories with enough runs */
    double p_max;    /* changes of a history with a greater p may be due to chance */
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

/* Return {name: [before, since]} for versions that differ between two rows. An unknown
 * version is null. */
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

/* Set "$versions", as in "nccl 2.27.3, was 2.26.2; cuda 13.0, was 12.8". */
static void set_versions(struct finding *finding, const json_t *versions)
{
    json_t *list = json_array(), *pair;
    const char *name;

    json_object_foreach ((json_t *)(uintptr_t)versions, name, pair)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s}", "name", name, "now",
                                        text_or_none(json_array_get(pair, 1)), "was",
                                        text_or_none(json_array_get(pair, 0))));
    finding_set_phrases(finding, "$versions", list, SIZE_MAX, "; ",
                        "{name} {now}, was {was}");
    json_decref(list);
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

/* Add the verdict of a series. point: the change, or NULL for none. */
static void add_verdict(const struct trend *trend, const struct history *history,
                        const struct change_point *point, enum message_id message,
                        struct finding *finding)
{
    bool is_judged = history->n >= CHANGE_POINTS_LEVELS_MIN;
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
                  is_judged ? json_real(history->p) : json_null(), "verdict",
                  finding_end(finding, message, NULL)));
}

static const struct change_point *strongest(const struct history *history)
{
    const struct change_point *most = &history->found[0];

    for (int i = 1; i < history->n_found; i++)
        if (history->found[i].split.p < most->split.p)
            most = &history->found[i];
    return most;
}

/* Return the time of a run as "2026-01-31 23:05 UTC". */
static const char *when_at(const struct history *history, size_t i,
                           char text[CLOCK_TEXT_MAX])
{
    char created[CLOCK_TEXT_MAX];

    clock_format_ms(json_integer_value(cell(history->rows[i], AT_CREATED)), created);
    snprintf(text, CLOCK_TEXT_MAX, "%.10s %.5s UTC", created, created + 11);
    return text;
}

/* Add the run after the change, and members for the sentence. */
static void put_change(const struct trend *trend, const struct history *history,
                       const struct level_split *split, struct finding *finding)
{
    char when[CLOCK_TEXT_MAX];

    finding_put(finding, "{s:f, s:b, s:s, s:s, s:b}", "$change",
                fabs(part_of(split->change)), "$is_better",
                (int)is_better(trend, split->change), "run", run_at(history, split->at),
                "$when", when_at(history, split->at, when), "$is_last",
                split->at + 1 == history->n);
}

static void add_unchanged(const struct trend *trend, const struct history *history)
{
    bool is_short = history->n < CHANGE_POINTS_LEVELS_MIN;
    bool is_doubtful = !is_short && history->n_found > 0;
    struct finding finding = finding_begin();

    finding_put(&finding, "{s:I, s:i}", "runs", (json_int_t)history->n, "$needed",
                CHANGE_POINTS_LEVELS_MIN);
    if (is_doubtful)
        put_change(trend, history, &strongest(history)->split, &finding);
    add_verdict(trend, history, NULL,
                is_short      ? MESSAGE_FEW_RUNS
                : is_doubtful ? MESSAGE_CHANGE_DOUBTFUL
                              : MESSAGE_NO_CHANGE,
                &finding);
}

static json_t *side_json(double level, size_t runs)
{
    return json_pack("{s:f, s:I}", "level", exp(level), "runs", (json_int_t)runs);
}

/* Add a verdict about a change. Versions are named only if they changed within the
 * possible range of the change. */
static void add_change(const struct trend *trend, const struct history *history,
                       const struct change_point *point)
{
    const struct level_split *split = &point->split;
    const struct trend_figure *figure = trend->figure;
    json_t *versions = differing_versions(trend, history->rows[split->earliest - 1],
                                          history->rows[split->latest]);
    struct finding finding = finding_begin();
    char earliest[CLOCK_TEXT_MAX], latest[CLOCK_TEXT_MAX];

    finding_put(&finding, "{s:o, s:o, s:f, s:f, s:f, s:s, s:s, s:s, s:I, s:O}", "before",
                side_json(point->before, point->n_before), "since",
                side_json(point->after, point->n_after), "low", part_of(split->low),
                "high", part_of(split->high), "p", split->p, "last_before",
                run_at(history, split->at - 1), "earliest",
                run_at(history, split->earliest), "latest",
                run_at(history, split->latest), "runs", (json_int_t)history->n,
                "versions", versions);
    finding_put(&finding, "{s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:b}", "$collective",
                figure->collective, "$dtype", figure->dtype, "$in_place",
                (int)figure->in_place, "$where", band_where(figure->band), "$unit",
                unit_of(figure->band), "$earliest",
                when_at(history, split->earliest, earliest), "$latest",
                when_at(history, split->latest, latest), "$is_spread",
                split->earliest < split->latest && json_object_size(versions) > 0);
    put_change(trend, history, split, &finding);
    set_versions(&finding, versions);
    json_decref(versions);
    add_verdict(trend, history, point,
                is_better(trend, split->change) ? MESSAGE_FASTER : MESSAGE_SLOWER,
                &finding);
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

/* Collect the series' rows from the window, which is ordered from newest to oldest. A
 * value of 0, such as a single rank's bus bandwidth, has no logarithm and is skipped.
 * Return the number of rows. */
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

/* Set p_max, the limit for p. Without this limit, a page with many series would show some
 * changes that are due to chance. */
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
