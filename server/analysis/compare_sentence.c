/* compare_sentence.c - a comparison in one sentence */
#include "server/analysis/compare_sentence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/units.h"
#include "common/result/noise.h"

#define LISTED_MAX 4 /* bands by name, in each part */
#define FACTOR_SHOWN 10

#define PERCENT_SHOWN 0.001 /* as percent_text() rounds: 0.1 % */
#define NUMBER_BYTES 24

/* Per cent, with a fraction where that matters. */
static const char *percent_text(double part, char out[NUMBER_BYTES])
{
    double value = fabs(100 * part);

    snprintf(out, NUMBER_BYTES, "%.*f", value < 9.95 ? 1 : 0, value);
    return out;
}

/* "12", or "1/12" of what is less. */
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

static void put_labels(const json_t *labels, struct buf *out)
{
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)(uintptr_t)labels, name, value) {
        const char *text = json_string_value(value);

        buf_printf(out, " %s=%s", name,
                   text                  ? text
                   : json_is_true(value) ? "true"
                                         : "false");
    }
}

void compare_put_series(const struct compare_band *band, struct buf *out)
{
    const char *redop = json_get_str(band->about, "redop", "none");
    const char *metric = json_get_str(band->about, "metric", NULL);
    bool reduces = strcmp(redop, "none") != 0;

    if (metric) {
        buf_append_str(out, metric);
        put_labels(json_object_get(band->about, "labels"), out);
    } else {
        buf_printf(out, "%s %s%s%s", json_get_str(band->about, "collective", "?"),
                   json_get_str(band->about, "dtype", "?"), reduces ? " " : "",
                   reduces ? redop : "");
    }
}

/* Where a band is: "from 4M up", "of all_gather float32 from 4M up" where there are
 * several series, "tokens_per_s" of a metric. */
static void put_where(const struct compare *compare, const struct compare_band *band,
                      struct buf *out)
{
    bool has_sizes = band->band != BANDS;

    if (json_object_get(band->about, "metric") || !is_same_series(compare)) {
        buf_append_str(out, "in ");
        compare_put_series(band, out);
        buf_append_str(out, has_sizes ? " " : "");
    }
    buf_append_str(out, has_sizes ? band_where(band->band) : "");
}

/* ---- Why not ---- */

static void put_states(const struct compare *compare, const struct compare_band *band,
                       struct buf *out)
{
    size_t n = compare->n_base + compare->n_head, upper = band->states.upper;
    const char *where = band->base_varies && band->head_varies ? "both"
                        : band->base_varies                    ? "base"
                                                               : "head";

    if (upper == 1 || upper == n - 1)
        buf_printf(out, "1 of %zu cases, in %s, is %.1fx off", n, where,
                   exp(band->states.apart));
    else
        buf_printf(out, "two states %.1fx apart in %s", exp(band->states.apart), where);
    if (!compare->is_paired)
        buf_append_str(out, ", which cases that did not take turns can't tell from "
                            "settings");
    else if (compare->n_base < STATS_TRIM_FROM)
        buf_printf(out, ", which %zu repeats can't tell from settings and %d might",
                   compare->n_base, STATS_TRIM_FROM);
    else
        buf_printf(out, ", which %zu repeats can't tell from settings", compare->n_base);
}

/* For an interval that goes beyond the double, per cent means little. */
static void put_width(const struct compare_band *band, double half, struct buf *out)
{
    char percent[NUMBER_BYTES];

    if (!noise_is_known(1 + band->change.low, 1 + band->change.high))
        buf_append_str(out, "an unknown change");
    else if (band->change.high > 1 && !band->is_linear)
        buf_printf(out, "anything from %.2gx to %.2gx", 1 + band->change.low,
                   1 + band->change.high);
    else
        buf_printf(out, "\xC2\xB1%s %%", percent_text(half, percent));
}

static void put_noise(const struct compare *compare, const struct compare_band *band,
                      struct buf *out)
{
    double half = (band->change.high - band->change.low) / 2, margin = compare->margin;

    if (!isfinite(half)) {
        buf_append_str(out, fabs(band->change.base) > 0
                                ? "its values are too far apart to reckon with"
                                : "its mean is 0");
        return;
    }
    if (compare->by_run) {
        buf_append_str(out, "the usual range spans more than a factor of ten");
        return;
    }
    put_width(band, half, out);
    if (band->repeats_needed >= STATS_REPEATS_MAX)
        buf_printf(out, ", %d repeats would not resolve %g %%", STATS_REPEATS_MAX,
                   100 * margin);
    else if (band->repeats_needed > 0)
        buf_printf(out, ", %zu repeats would resolve %g %%", band->repeats_needed,
                   100 * margin);
}

void compare_put_why(const struct compare *compare, const struct compare_band *band,
                     struct buf *out)
{
    switch (band->reason) {
    case COMPARE_FEW:
        buf_printf(out, "%zu and %zu cases, at least %d each are needed", compare->n_base,
                   compare->n_head, COMPARE_CASES_MIN);
        break;
    case COMPARE_RUNS:
        buf_printf(out, "%zu more run%s like base would show how runs scatter",
                   band->runs_needed, band->runs_needed == 1 ? "" : "s");
        break;
    case COMPARE_STATES:
        put_states(compare, band, out);
        break;
    case COMPARE_NOISE:
        put_noise(compare, band, out);
        break;
    default:
        break;
    }
}

/* ---- Parts of the sentence ---- */

/* What phrases share. */
struct part {
    const struct compare *compare;
    const struct compare_names *names;
    struct buf *out;
    bool has_repeats; /* how much data there is was said */
};

static void put_repeats(const struct compare *compare, struct buf *out)
{
    if (compare->by_run) {
        buf_printf(out, "%zu run%s against %zu", compare->head_runs,
                   compare->head_runs == 1 ? "" : "s", compare->base_runs);
        if (compare->history > 0)
            buf_printf(out, ", with the scatter of %zu more", compare->history);
    } else if (compare->is_paired) {
        buf_printf(out, "%zu repeats each", compare->n_base);
    } else if (compare->n_base == compare->n_head) {
        buf_printf(out, "%zu cases each", compare->n_base);
    } else {
        buf_printf(out, "%zu cases against %zu", compare->n_head, compare->n_base);
    }
}

static void put_repeats_once(struct part *part)
{
    if (part->has_repeats)
        return;
    buf_append_str(part->out, ", ");
    put_repeats(part->compare, part->out);
    part->has_repeats = true;
}

/* A change by a factor of ten or more reads better as a factor than in per cent. */
static bool is_factor(const struct compare_band *band)
{
    return !band->is_linear && fabs(log1p(band->change.change)) >= log(FACTOR_SHOWN);
}

/* "is 4.1 % faster", "takes 3.0 % more time", "has 2.0 % less"; "takes 12 times as long",
 * "takes 1/12 of the time"; or "takes as long" instead of 0.0 %. */
static void put_change(const struct compare_band *band, struct buf *out)
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
        buf_printf(out, "%s %s", words[kind].verb, words[kind].equal);
    else if (is_factor(band))
        buf_printf(out, "%s %s%s", words[kind].verb, factor_text(change, number),
                   change < 0 ? words[kind].fraction : words[kind].times);
    else
        buf_printf(out, "%s %s%s", words[kind].verb, percent_text(change, number),
                   change < 0 ? words[kind].less : words[kind].more);
}

static void put_change_where(struct part *part, const struct compare_band *band)
{
    put_change(band, part->out);
    buf_append_str(part->out, " ");
    put_where(part->compare, band, part->out);
}

static void put_found(struct part *part, const struct compare_band *band)
{
    const char *(*end)(double part, char *out) =
        is_factor(band) ? factor_text : percent_text;
    double ends[2] = {band->change.low, band->change.high};
    bool is_falling = fabs(ends[0]) > fabs(ends[1]);
    char from[NUMBER_BYTES], to[NUMBER_BYTES];

    put_change_where(part, band);
    buf_printf(part->out, " (%s to %s", end(ends[is_falling], from),
               end(ends[!is_falling], to));
    put_repeats_once(part);
    buf_append_str(part->out, ")");
}

/* "up to 64M", "from 256M", "from 4M to 64M", "at 4M", where stretch i of n is. */
static void put_stretch(const struct compare_stretch *stretch, size_t i, size_t n,
                        struct buf *out)
{
    char from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];

    units_format_size((uint64_t)stretch->from, from);
    units_format_size((uint64_t)stretch->to, to);
    if (i == 0)
        buf_printf(out, "up to %s", to);
    else if (i + 1 == n)
        buf_printf(out, "from %s", from);
    else if (strcmp(from, to) == 0)
        buf_printf(out, "at %s", from);
    else
        buf_printf(out, "from %s to %s", from, to);
    buf_printf(out, " (%.0f to %.0f %%)", 100 * stretch->least, 100 * stretch->most);
}

/* "from 4M up Tree is faster up to 64M (2 to 71 %), Ring from 256M (4 to 9 %)", or
 * "from 4M up Tree is faster in some rows, Ring in others" */
static void put_mixed(struct part *part, const struct compare_band *band)
{
    struct buf *out = part->out;

    put_where(part->compare, band, out);
    if (band->n_stretches == 0)
        buf_printf(out, " %s is faster in some rows, %s in others",
                   part->names->setting_head, part->names->setting_base);
    for (size_t i = 0; i < band->n_stretches; i++) {
        const struct compare_stretch *stretch = &band->stretches[i];

        buf_printf(out, i == 0 ? " %s is faster " : ", %s ",
                   stretch->is_head_faster ? part->names->setting_head
                                           : part->names->setting_base);
        put_stretch(stretch, i, band->n_stretches, out);
    }
}

/* "up to 16K (±2.1 %, 1 run against 5)" */
static void put_usual(struct part *part, const struct compare_band *band)
{
    char percent[NUMBER_BYTES];

    put_where(part->compare, band, part->out);
    buf_printf(part->out, " (\xC2\xB1%s %%", percent_text(band->usual, percent));
    put_repeats_once(part);
    buf_append_str(part->out, ")");
}

static void put_same(struct part *part, const struct compare_band *band)
{
    put_where(part->compare, band, part->out);
}

static void put_why(struct part *part, const struct compare_band *band)
{
    buf_append_str(part->out, " (");
    compare_put_why(part->compare, band, part->out);
    buf_append_str(part->out, ")");
}

/* "up to 16K (why)" */
static void put_open(struct part *part, const struct compare_band *band)
{
    put_where(part->compare, band, part->out);
    put_why(part, band);
}

/* "is 1.2 % slower from 4M up (±2.1 %, 14 repeats would resolve 2 %)": the estimate comes
 * first. The number of cases or runs is the same for all bands and said once. */
static void put_seen(struct part *part, const struct compare_band *band)
{
    put_change_where(part, band);
    if (band->reason != COMPARE_NOISE && part->has_repeats)
        return;
    part->has_repeats = part->has_repeats || band->reason != COMPARE_NOISE;
    put_why(part, band);
}

/* ---- The sentence ---- */

/* A band's place in the sentence. */
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

static const struct {
    bool names_head;
    const char *before, *after;
    void (*put)(struct part *part, const struct compare_band *band);
} phrases[] = {
    [IS_WORSE] = {true, "", "", put_found},
    [IS_MIXED] = {false, "", "", put_mixed},
    [IS_BETTER] = {true, "", "", put_found},
    [IS_USUAL] = {true, "is within the usual range ", "", put_usual},
    [IS_SAME] = {false, "", "", put_same},
    [IS_SEEN] = {true, "", ": not enough data", put_seen},
    [IS_OPEN] = {false, "not enough data ", "", put_open},
};

static size_t count(const struct compare *compare, enum phrase phrase)
{
    size_t n = 0;

    for (size_t i = 0; i < compare->n_bands; i++)
        n += phrase_of(compare, &compare->bands[i]) == phrase;
    return n;
}

/* The bands of one phrase, a few of them by name. */
static void put_bands(struct part *part, enum phrase phrase, size_t n)
{
    const struct compare *compare = part->compare;
    size_t told = 0;

    for (size_t i = 0; i < compare->n_bands && told < LISTED_MAX; i++) {
        const struct compare_band *band = &compare->bands[i];

        if (phrase_of(compare, band) != phrase)
            continue;
        if (told > 0)
            buf_append_str(part->out, told + 1 == n ? " and " : ", ");
        phrases[phrase].put(part, band);
        told++;
    }
    if (n > told)
        buf_printf(part->out, " and in %zu more bands", n - told);
}

static void put_phrase(struct part *part, enum phrase phrase, size_t n)
{
    struct buf *out = part->out;

    if (phrases[phrase].names_head)
        buf_printf(out, "%s ", part->names->head);
    if (phrase == IS_SAME)
        buf_printf(out, "no difference of %g %% or more ", 100 * part->compare->margin);
    buf_append_str(out, phrases[phrase].before);
    put_bands(part, phrase, n);
    if (phrase == IS_SAME && !part->has_repeats) {
        part->has_repeats = true;
        buf_append_str(out, " (");
        put_repeats(part->compare, out);
        buf_append_str(out, ")");
    }
    buf_append_str(out, phrases[phrase].after);
}

static void put_nothing(const struct compare *compare, struct buf *out)
{
    if (compare->n_base == 0 || compare->n_head == 0)
        buf_printf(out,
                   "not enough data: %zu and %zu cases have completed, and at least %d "
                   "each are needed",
                   compare->n_base, compare->n_head, COMPARE_CASES_MIN);
    else
        buf_append_str(out, "not enough data: there is no size or metric that all cases "
                            "of both sides have");
}

void compare_put_sentence(const struct compare *compare,
                          const struct compare_names *names, struct buf *out)
{
    struct part part = {.compare = compare, .names = names, .out = out};
    bool has_part = false;

    if (compare->n_bands == 0)
        put_nothing(compare, out);
    for (enum phrase phrase = IS_WORSE; phrase <= IS_OPEN; phrase++) {
        size_t n = count(compare, phrase);

        if (n == 0)
            continue;
        buf_append_str(out, has_part ? "; " : "");
        put_phrase(&part, phrase, n);
        has_part = true;
    }
}
