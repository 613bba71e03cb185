/* trend.c - what a figure did over time */
#include "server/analysis/trend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "server/analysis/change_points.h"
#include "server/analysis/compare.h"
#include "server/analysis/verdict.h"
#include "server/store/store_trends.h"

#define SENTENCE_MAX 1000

_Static_assert(STORE_TREND_WINDOW <= CHANGE_POINTS_VALUES_MAX, "all at once");

/* A row of the window. */
enum { AT_SERIES, AT_VALUE, AT_RUN, AT_CREATED, AT_VERSIONS };

/* One series of the window, oldest first. */
struct history {
    const struct trend_figure *figure;
    json_int_t series;
    double values[STORE_TREND_WINDOW];
    const json_t *rows[STORE_TREND_WINDOW];
    size_t n;
    const json_t *texts;
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

/* ---- What ran before and what since ---- */

static json_t *versions_of(const struct history *history, size_t i)
{
    char name[24];
    const char *text;

    snprintf(name, sizeof(name), "%lld",
             (long long)json_integer_value(cell(history->rows[i], AT_VERSIONS)));
    text = json_get_str(history->texts, name, "{}");
    return json_parse(text, strlen(text), NULL);
}

/* {name: [before, since]} of those that differ; what one of them does not say is null. */
static json_t *differing_versions(const struct history *history, size_t at)
{
    json_t *before = versions_of(history, at - 1), *since = versions_of(history, at);
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

static void put_versions(const json_t *versions, char *out, size_t size)
{
    const char *name;
    json_t *pair;
    size_t n = 0;

    *out = '\0';
    json_object_foreach ((json_t *)(uintptr_t)versions, name, pair) {
        if (n < size)
            n += (size_t)snprintf(out + n, size - n, "%s %s %s, was %s",
                                  n > 0 ? ";" : "; with", name,
                                  text_or_none(json_array_get(pair, 1)),
                                  text_or_none(json_array_get(pair, 0)));
    }
}

/* ---- A verdict ---- */

/* The verdict is taken. */
static int add_verdict(const struct history *history, const json_t *row, double change,
                       json_t *verdict)
{
    char created[CLOCK_TEXT_MAX] = "";

    if (row)
        clock_format_ms(json_integer_value(cell(row, AT_CREATED)), created);
    return json_array_append_new(
        history->out,
        json_pack("{s:I, s:O?, s:s?, s:o, s:o}", "series", history->series, "run",
                  row ? cell(row, AT_RUN) : NULL, "created", row ? created : NULL,
                  "change", row ? json_real(change) : json_null(), "verdict", verdict));
}

static int add_unchanged(const struct history *history)
{
    bool is_enough = history->n >= CHANGE_POINTS_VALUES_MIN;
    char sentence[SENTENCE_MAX];

    if (is_enough)
        snprintf(sentence, sizeof(sentence), "no change in %zu runs", history->n);
    else
        snprintf(sentence, sizeof(sentence),
                 "%zu run%s of the %d that it takes to see a change", history->n,
                 history->n == 1 ? "" : "s", CHANGE_POINTS_VALUES_MIN);
    return add_verdict(
        history, NULL, 0.0,
        verdict_json(VERDICT_CHANGE, is_enough ? VERDICT_SAME : VERDICT_NOT_ENOUGH_DATA,
                     sentence, NULL, json_pack("{s:I}", "runs", (json_int_t)history->n)));
}

static enum verdict_answer answer_of(const struct history *history, double change)
{
    bool is_up = change > 0;

    if (fabs(change) <= COMPARE_SAME)
        return VERDICT_SAME;
    return is_up == band_higher_is_better(history->figure->band) ? VERDICT_BETTER
                                                                 : VERDICT_WORSE;
}

static json_t *evidence_json(const struct history *history,
                             const struct change_point *point, const json_t *versions)
{
    return json_pack("{s:{s:f, s:I}, s:{s:f, s:I}, s:f, s:f, s:O, s:I, s:O}", "before",
                     "median", point->before, "runs", (json_int_t)point->n_before,
                     "since", "median", point->after, "runs", (json_int_t)point->n_after,
                     "score", point->score, "threshold",
                     change_points_threshold(history->n), "last_before",
                     cell(history->rows[point->at - 1], AT_RUN), "runs",
                     (json_int_t)history->n, "versions", versions);
}

/* "3.1 % slower from run 06cw on (all_reduce float32 from 4M up: 44.7 GB/s over 8 runs,
 * before 46.1 over 12); with nccl 2.27.3, was 2.26.2" */
static int add_change(const struct history *history, const struct change_point *point)
{
    const struct trend_figure *figure = history->figure;
    const json_t *row = history->rows[point->at];
    double change = point->after / point->before - 1.0;
    bool is_faster = (change > 0) == band_higher_is_better(figure->band);
    json_t *versions = differing_versions(history, point->at);
    char sentence[SENTENCE_MAX], with[400];
    int result;

    put_versions(versions, with, sizeof(with));
    snprintf(sentence, sizeof(sentence),
             "%.1f %% %s from run %s on (%s %s%s %s: %.4g %s over %zu runs, before %.4g "
             "over %zu)%s",
             fabs(change) * 100.0, is_faster ? "faster" : "slower",
             json_string_value(cell(row, AT_RUN)), figure->collective, figure->dtype,
             figure->in_place ? " in place" : "", band_where(figure->band), point->after,
             unit_of(figure->band), point->n_after, point->before, point->n_before, with);
    result =
        add_verdict(history, row, change,
                    verdict_json(VERDICT_CHANGE, answer_of(history, change), sentence,
                                 NULL, evidence_json(history, point, versions)));
    json_decref(versions);
    return result;
}

static int judge(const struct history *history)
{
    struct change_point found[CHANGE_POINTS_MAX];
    int n = change_points_find(history->values, history->n, found), result = n;

    if (n == 0)
        return add_unchanged(history);
    for (int i = n - 1; i >= 0 && result >= 0; i--)
        result = add_change(history, &found[i]);
    return result < 0 ? -1 : 0;
}

/* ---- The series of a page ---- */

/* Its values in the window, which has the newest first. */
static void gather(struct history *history, const json_t *window)
{
    history->n = 0;
    for (size_t i = json_array_size(window); i-- > 0;) {
        const json_t *row = json_array_get(window, i);

        if (json_integer_value(cell(row, AT_SERIES)) != history->series ||
            history->n == STORE_TREND_WINDOW)
            continue;
        history->values[history->n] = json_number_value(cell(row, AT_VALUE));
        history->rows[history->n++] = row;
    }
}

static bool was_judged(const json_t *points, size_t i)
{
    json_int_t series = json_get_int(json_array_get(points, i), "series", 0);

    for (size_t k = 0; k < i; k++)
        if (json_get_int(json_array_get(points, k), "series", 0) == series)
            return true;
    return false;
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

json_t *trend_verdicts(json_t *answer, const struct trend_figure *figure)
{
    json_t *points = json_object_get(answer, "points");
    const json_t *window = json_object_get(answer, "window");
    struct history *history = calloc(1, sizeof(*history));
    json_t *out = json_array();
    int result = history && out ? 0 : -1;

    for (size_t i = 0; i < json_array_size(points) && !result; i++) {
        if (was_judged(points, i))
            continue;
        history->figure = figure;
        history->series = json_get_int(json_array_get(points, i), "series", 0);
        history->texts = json_object_get(answer, "texts");
        history->out = out;
        gather(history, window);
        result = history->n > 0 ? judge(history) : 0;
    }
    free(history);
    if (result) {
        json_decref(out);
        return NULL;
    }
    mark_points(points, out);
    return out;
}
