/* SPDX-License-Identifier: Apache-2.0 */
/* compare_sentence.c - summarizes a comparison in one sentence */
#include "server/analysis/compare_sentence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/result/noise.h"
#include "server/finding/template.h"

#define LISTED_MAX 4 /* maximum number of bands listed by name in each phrase */
#define FACTOR_SHOWN 10

#define PERCENT_SHOWN 0.001 /* 0.1 %, the precision of percent_text() */
#define NUMBER_BYTES 24
#define WHERE_MAX 4096
#define SENTENCE_MAX 8192

/* Format a fraction as a percentage, with one decimal below 10 %. */
static const char *percent_text(double part, char out[NUMBER_BYTES])
{
    double value = fabs(100 * part);

    snprintf(out, NUMBER_BYTES, "%.*f", value < 9.95 ? 1 : 0, value);
    return out;
}

/* Format a fraction of change as a factor: "12", or "1/12" for a decrease. */
static const char *factor_text(double part, char out[NUMBER_BYTES])
{
    double factor = exp(fabs(log1p(part)));

    snprintf(out, NUMBER_BYTES, "%s%.*f", part < 0 ? "1/" : "", factor < 9.95 ? 1 : 0,
             factor);
    return out;
}

static bool is_same_series(const struct compare *compare)
{
    for (size_t i = 1; i < compare->n_bands; i++)
        if (!json_equal(compare->bands[i].about, compare->bands[0].about))
            return false;
    return true;
}

/* Return labels as " phase=warm cached=true", or NULL if there are none. */
static json_t *labels_text(const json_t *labels)
{
    const char *name;
    json_t *value, *text;
    struct buf out;

    buf_init(&out, WHERE_MAX);
    json_object_foreach ((json_t *)(uintptr_t)labels, name, value)
        buf_printf(&out, " %s=%s", name,
                   json_is_string(value) ? json_string_value(value)
                   : json_is_true(value) ? "true"
                                         : "false");
    text = out.data ? json_clean_string(out.data) : NULL;
    buf_release(&out);
    return text;
}

json_t *compare_series(const struct compare_band *band)
{
    const char *redop = json_get_str(band->about, "redop", "none");
    json_t *words =
        json_pack("{s:b, s:o*}", "reduces", strcmp(redop, "none") != 0, "labels",
                  labels_text(json_object_get(band->about, "labels")));
    json_t *text = template_text(
        "[{metric}[{labels}]|[{collective}|?] [{dtype}|?][{reduces?} {redop}]]", words,
        band->about);

    json_decref(words);
    return text;
}

/* Return a band's location as a new string: "from 4M up", or "in all_gather float32 from
 * 4M up" if there are several series. A metric's location is "in tokens_per_s". */
static json_t *where_of(const struct compare *compare, const struct compare_band *band)
{
    bool is_named = json_object_get(band->about, "metric") || !is_same_series(compare);
    json_t *words =
        json_pack("{s:o*, s:s*}", "series", is_named ? compare_series(band) : NULL,
                  "where", band->band != BANDS ? band_where(band->band) : NULL);
    json_t *text = template_text("[in {series}[ {where}]|{where}|]", words, NULL);

    json_decref(words);
    return text;
}

/* Return a new object with the members that all templates use. */
static json_t *words_of(const struct compare *compare)
{
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:f, s:i}", "n_base",
        (json_int_t)compare->n_base, "n_head", (json_int_t)compare->n_head, "base_runs",
        (json_int_t)compare->base_runs, "head_runs", (json_int_t)compare->head_runs,
        "history", (json_int_t)compare->history, "is_paired", (int)compare->is_paired,
        "by_run", (int)compare->by_run, "is_even", compare->n_base == compare->n_head,
        "margin", 100 * compare->margin, "least", COMPARE_CASES_MIN);
}

/* ---- Reasons for no verdict ---- */

static const char states_why[] =
    "[{is_lone?}1 of {cases} cases, in {side}, differs by {apart:.1f}x|the "
    "values of {side} fall into two groups {apart:.1f}x apart]; [{is_paired?}{n_base} "
    "repeats cannot show if the settings are the cause[, {enough} might]|interleave the "
    "settings to see if they are the cause]";
static const char noise_why[] =
    "[{is_unknown?}an unknown change|{is_wide?}anything from {low:.2g}x to "
    "{high:.2g}x|\xC2\xB1{half} %][, {too_many} repeats would not resolve {margin} "
    "%|{needed?}, {needed} repeats would resolve {margin} %]";

static json_t *states_text(const struct compare *compare, const struct compare_band *band,
                           const json_t *words)
{
    size_t n = compare->n_base + compare->n_head, upper = band->states.upper;
    bool is_enough = compare->n_base >= STATS_TRIM_FROM;
    json_t *states =
        json_pack("{s:b, s:I, s:s, s:f, s:o*}", "is_lone", upper == 1 || upper == n - 1,
                  "cases", (json_int_t)n, "side",
                  band->base_varies && band->head_varies ? "both"
                  : band->base_varies                    ? "base"
                                                         : "head",
                  "apart", exp(band->states.apart), "enough",
                  is_enough ? NULL : json_integer(STATS_TRIM_FROM));
    json_t *text = template_text(states_why, states, words);

    json_decref(states);
    return text;
}

/* Describe the noise. For an interval beyond a factor of two, factors are clearer than
 * percentages. */
static json_t *noise_text(const struct compare *compare, const struct compare_band *band,
                          const json_t *words)
{
    const struct compare_change *change = &band->change;
    double half = (change->high - change->low) / 2;
    bool is_hopeless = band->repeats_needed >= STATS_REPEATS_MAX;
    char percent[NUMBER_BYTES];
    json_t *noise, *text;

    if (!isfinite(half))
        return json_string(fabs(change->base) > 0
                               ? "the values are too far apart for an interval"
                               : "the mean is 0");
    if (compare->by_run)
        return json_string("the usual range spans more than a factor of ten");
    noise = json_pack("{s:b, s:b, s:f, s:f, s:s, s:I, s:o*}", "is_unknown",
                      !noise_is_known(1 + change->low, 1 + change->high), "is_wide",
                      change->high > 1 && !band->is_linear, "low", 1 + change->low,
                      "high", 1 + change->high, "half", percent_text(half, percent),
                      "needed", (json_int_t)band->repeats_needed, "too_many",
                      is_hopeless ? json_integer(STATS_REPEATS_MAX) : NULL);
    text = template_text(noise_why, noise, words);
    json_decref(noise);
    return text;
}

static json_t *why_of(const struct compare *compare, const struct compare_band *band,
                      const json_t *words)
{
    if (band->reason == COMPARE_FEW)
        return template_text(
            "base has {n_base} and head {n_head} cases, but each needs {least} or more",
            words, NULL);
    if (band->reason == COMPARE_RUNS)
        return json_sprintf("needs %zu more run%s like base to estimate their scatter",
                            band->runs_needed, band->runs_needed == 1 ? "" : "s");
    if (band->reason == COMPARE_STATES)
        return states_text(compare, band, words);
    return band->reason == COMPARE_NOISE ? noise_text(compare, band, words)
                                         : json_string("");
}

json_t *compare_why(const struct compare *compare, const struct compare_band *band)
{
    json_t *words = words_of(compare), *text = why_of(compare, band, words);

    json_decref(words);
    return text;
}

/* ---- Parts of the sentence ---- */

/* Return true for changes by a factor of ten or more, which are shown as a factor instead
 * of a percentage. */
static bool is_factor(const struct compare_band *band)
{
    return !band->is_linear && fabs(log1p(band->change.change)) >= log(FACTOR_SHOWN);
}

/* Describe a change: "is 4.1 % faster", "takes 3.0 % more time", "has 2.0 % less"; "takes
 * 12 times as long", "takes 1/12 of the time"; or "takes as long" in place of 0.0 %. */
static json_t *change_of(const struct compare_band *band)
{
    enum { TIME, SPEED, METRIC } kind;
    static const struct {
        const char *verb, *equal, *less, *more, *fraction, *times;
    } words[] = {
        [TIME] = {"takes", "as long", " % less time", " % more time", " of the time",
                  " times as long"},
        [SPEED] = {"is", "as fast", " % slower", " % faster", " as fast",
                   " times as fast"},
        [METRIC] = {"has", "as much", " % less", " % more", " as much", " times as much"},
    };
    double change = band->change.change;
    char number[NUMBER_BYTES];

    kind = json_object_get(band->about, "metric") ? METRIC
           : band_figure(band->band) == BAND_TIME ? TIME
                                                  : SPEED;
    if (fabs(change) < PERCENT_SHOWN / 2)
        return json_sprintf("%s %s", words[kind].verb, words[kind].equal);
    if (is_factor(band))
        return json_sprintf("%s %s%s", words[kind].verb, factor_text(change, number),
                            change < 0 ? words[kind].fraction : words[kind].times);
    return json_sprintf("%s %s%s", words[kind].verb, percent_text(change, number),
                        change < 0 ? words[kind].less : words[kind].more);
}

/* Return a phrase such as "Tree is faster up to 64M (2 to 71 %), Ring from 256M (4 to 9
 * %)". */
static json_t *stretches_of(const struct compare_names *names,
                            const struct compare_band *band)
{
    struct buf out;
    json_t *text;

    buf_init(&out, WHERE_MAX);
    for (size_t i = 0; i < band->n_stretches; i++) {
        const struct compare_stretch *one = &band->stretches[i];
        json_t *stretch = json_pack(
            "{s:b, s:b, s:b, s:s, s:I, s:I, s:f, s:f}", "is_first", i == 0, "is_last",
            i + 1 == band->n_stretches, "is_point", one->from == one->to, "side",
            one->is_head_faster ? names->setting_head : names->setting_base, "from",
            (json_int_t)one->from, "to", (json_int_t)one->to, "least", 100 * one->least,
            "most", 100 * one->most);

        template_render("[{is_first?}{side} is faster up to {to:size}|, {side} "
                        "[{is_last?}from {from:size}|{is_point?}at {from:size}|from "
                        "{from:size} to {to:size}]] ({least:.0f} to {most:.0f} %)",
                        stretch, NULL, &out);
        json_decref(stretch);
    }
    text = json_clean_string(out.data ? out.data : "");
    buf_release(&out);
    return text;
}

/* ---- The sentence ---- */

/* The phrases of the sentence, in order. Each band belongs to one. */
enum phrase { IS_WORSE, IS_MIXED, IS_BETTER, IS_USUAL, IS_SAME, IS_SEEN, IS_OPEN };

static enum phrase phrase_of(const struct compare *compare,
                             const struct compare_band *band)
{
    const struct compare_change *change = &band->change;
    bool has_estimate = isfinite(change->change) &&
                        (band->reason == COMPARE_FEW || band->reason == COMPARE_RUNS ||
                         (band->reason == COMPARE_NOISE && !compare->by_run &&
                          isfinite(change->low) && change->high <= 1));

    if (band->answer == VERDICT_WORSE)
        return IS_WORSE;
    if (band->answer == VERDICT_MIXED)
        return IS_MIXED;
    if (band->answer == VERDICT_BETTER)
        return IS_BETTER;
    if (band->answer == VERDICT_SAME)
        return compare->by_run && change->low <= 0 && change->high >= 0 ? IS_USUAL
                                                                        : IS_SAME;
    return has_estimate ? IS_SEEN : IS_OPEN;
}

static size_t count(const struct compare *compare, enum phrase phrase)
{
    size_t n = 0;

    for (size_t i = 0; i < compare->n_bands; i++)
        n += phrase_of(compare, &compare->bands[i]) == phrase;
    return n;
}

/* Templates of a phrase: text before its bands, text for each band, and text after its
 * bands. */
static const struct {
    const char *before, *band, *after;
} phrases[] = {
    [IS_WORSE] = {"{head} ", "{change} {where} ({low} to {high}[, {repeats}])", ""},
    [IS_MIXED] = {"",
                  "{where} [{stretches}|{setting_head} is faster in some rows, "
                  "{setting_base} in others]",
                  ""},
    [IS_BETTER] = {"{head} ", "{change} {where} ({low} to {high}[, {repeats}])", ""},
    [IS_USUAL] = {"{head} is within the usual range ",
                  "{where} (\xC2\xB1{usual} %[, {repeats}])", ""},
    [IS_SAME] = {"no difference of {margin} % or more ", "{where}", "[ ({repeats})]"},
    [IS_SEEN] = {"{head} ", "{change} {where}[ ({why})]", ": not enough data"},
    [IS_OPEN] = {"not enough data ", "{where} ({why})", ""},
};

static const char repeats[] =
    "[{by_run?}{head_runs} {head_runs:run/runs} against {base_runs}[{history?}, with the "
    "scatter of {history} more]|{is_paired?}{n_base} repeats each|{is_even?}{n_base} "
    "cases each|{n_head} cases against {n_base}]";

/* The state that all phrases share. */
struct part {
    const struct compare *compare;
    const struct compare_names *names;
    json_t *words;
    struct buf *out;
};

/* Mention the number of cases or runs only once, because all bands share it. */
static void drop_repeats(struct part *part)
{
    json_object_del(part->words, "repeats");
}

/* Add an interval's ends, such as "1.5 to 2.1", with the smaller change first. */
static void add_ends(const struct compare_band *band, json_t *words)
{
    const char *(*end)(double part, char *out) =
        is_factor(band) ? factor_text : percent_text;
    double low = band->change.low, high = band->change.high;
    bool is_falling = fabs(low) > fabs(high);
    char text[NUMBER_BYTES];

    json_object_set_new(words, "low", json_string(end(is_falling ? high : low, text)));
    json_object_set_new(words, "high", json_string(end(is_falling ? low : high, text)));
}

/* Append a band: the estimate, and the reason for no verdict unless all bands share the
 * reason. */
static void put_band(struct part *part, enum phrase phrase,
                     const struct compare_band *band)
{
    bool is_own = phrase == IS_OPEN || band->reason == COMPARE_NOISE;
    json_t *words = json_pack("{s:o}", "where", where_of(part->compare, band));
    bool has_why = is_own || json_object_get(part->words, "repeats");
    char percent[NUMBER_BYTES];

    if (phrase == IS_WORSE || phrase == IS_BETTER || phrase == IS_SEEN)
        json_object_set_new(words, "change", change_of(band));
    if (phrase == IS_WORSE || phrase == IS_BETTER)
        add_ends(band, words);
    if (phrase == IS_MIXED)
        json_object_set_new(words, "stretches", stretches_of(part->names, band));
    if (phrase == IS_USUAL)
        json_object_set_new(words, "usual",
                            json_string(percent_text(band->usual, percent)));
    if ((phrase == IS_SEEN || phrase == IS_OPEN) && has_why)
        json_object_set_new(words, "why", why_of(part->compare, band, part->words));
    template_render(phrases[phrase].band, words, part->words, part->out);
    if (phrase <= IS_USUAL ? phrase != IS_MIXED : phrase == IS_SEEN && !is_own)
        drop_repeats(part);
    json_decref(words);
}

/* Append a phrase with its bands; only the first few are listed by name. */
static void put_phrase(struct part *part, enum phrase phrase, size_t n)
{
    const struct compare *compare = part->compare;
    size_t n_named = 0;

    template_render(phrases[phrase].before, part->words, NULL, part->out);
    for (size_t i = 0; i < compare->n_bands && n_named < LISTED_MAX; i++) {
        const struct compare_band *band = &compare->bands[i];

        if (phrase_of(compare, band) != phrase)
            continue;
        if (n_named > 0)
            buf_append_str(part->out, n_named + 1 == n ? " and " : ", ");
        put_band(part, phrase, band);
        n_named++;
    }
    if (n > n_named)
        buf_printf(part->out, " and in %zu more bands", n - n_named);
    template_render(phrases[phrase].after, part->words, NULL, part->out);
    if (phrase == IS_SAME)
        drop_repeats(part);
}

static void put_nothing(const struct part *part)
{
    template_render(
        part->compare->n_base == 0 || part->compare->n_head == 0
            ? "not enough data: base completed {n_base} and head {n_head} cases, but "
              "each "
              "needs {least} or more"
            : "not enough data: there is no size or metric that all cases of both sides "
              "have",
        part->words, NULL, part->out);
}

json_t *compare_sentence(const struct compare *compare, const struct compare_names *names)
{
    struct buf out;
    struct part part = {compare, names, words_of(compare), &out};
    bool has_part = false;
    json_t *text;

    buf_init(&out, SENTENCE_MAX);
    json_object_set_new(part.words, "repeats", template_text(repeats, part.words, NULL));
    json_object_set_new(part.words, "head", json_clean_string(names->head));
    json_object_set_new(part.words, "setting_head",
                        json_clean_string(names->setting_head));
    json_object_set_new(part.words, "setting_base",
                        json_clean_string(names->setting_base));
    if (compare->n_bands == 0)
        put_nothing(&part);
    for (enum phrase phrase = IS_WORSE; phrase <= IS_OPEN; phrase++) {
        size_t n = count(compare, phrase);

        if (n == 0)
            continue;
        buf_append_str(&out, has_part ? "; " : "");
        put_phrase(&part, phrase, n);
        has_part = true;
    }
    text = json_clean_string(out.data ? out.data : "");
    buf_release(&out);
    json_decref(part.words);
    return text;
}
