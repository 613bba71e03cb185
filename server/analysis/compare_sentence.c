/* compare_sentence.c - a comparison in one sentence */
#include "server/analysis/compare_sentence.h"

#include <math.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/units.h"
#include "common/result/noise.h"

#define LISTED_MAX 4 /* bands by name, in each part */
#define FACTOR_SHOWN 10

#define PERCENT_SHOWN 0.001 /* as put_percent() rounds: 0.1 % */

/* Per cent, with a fraction where that matters. */
static int put_percent(struct buf *out, double part)
{
    double value = fabs(100 * part);

    return buf_printf(out, "%.*f", value < 9.95 ? 1 : 0, value);
}

static bool is_same_series(const struct compare *compare)
{
    for (size_t i = 1; i < compare->n_bands; i++)
        if (!json_equal(compare->bands[i].about, compare->bands[0].about))
            return false;
    return true;
}

static int put_labels(const json_t *labels, struct buf *out)
{
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)(uintptr_t)labels, name, value) {
        const char *text = json_string_value(value);

        if (buf_printf(out, " %s=%s", name,
                       text                  ? text
                       : json_is_true(value) ? "true"
                                             : "false"))
            return -1;
    }
    return 0;
}

int compare_series_name(const struct compare_band *band, struct buf *out)
{
    const char *redop = json_get_str(band->about, "redop", "none");

    if (json_object_get(band->about, "metric"))
        return buf_append_str(out, json_get_str(band->about, "metric", "")) ||
               put_labels(json_object_get(band->about, "labels"), out);
    return buf_printf(out, "%s %s%s%s", json_get_str(band->about, "collective", "?"),
                      json_get_str(band->about, "dtype", "?"),
                      strcmp(redop, "none") == 0 ? "" : " ",
                      strcmp(redop, "none") == 0 ? "" : redop);
}

/* Where a band is: "from 4M up", "of all_gather float32 from 4M up" where there are
 * several series, "tokens_per_s" of a metric. */
static int put_where(const struct compare *compare, const struct compare_band *band,
                     struct buf *out)
{
    bool is_metric = json_object_get(band->about, "metric") != NULL;

    if (is_metric || !is_same_series(compare)) {
        if (buf_append_str(out, "in ") || compare_series_name(band, out))
            return -1;
        if (band->band != BANDS && buf_append_str(out, " "))
            return -1;
    }
    return band->band != BANDS ? buf_append_str(out, band_where(band->band)) : 0;
}

/* ---- Why not ---- */

static int put_states(const struct compare *compare, const struct compare_band *band,
                      struct buf *out)
{
    size_t n = compare->n_base + compare->n_head, upper = band->states.upper;
    const char *where = band->base_varies && band->head_varies ? "both"
                        : band->base_varies                    ? "base"
                                                               : "head";

    if (upper == 1 || upper == n - 1)
        return buf_printf(out, "1 of %zu cases, in %s, is %.1fx off", n, where,
                          exp(band->states.apart));
    return buf_printf(out, "two states %.1fx apart in %s", exp(band->states.apart),
                      where);
}

static int put_states_cure(const struct compare *compare, struct buf *out)
{
    if (!compare->is_paired)
        return buf_append_str(out, ", which cases that did not take turns can't tell "
                                   "from settings");
    if (compare->n_base < STATS_TRIM_FROM)
        return buf_printf(out,
                          ", which %zu repeats can't tell from settings and %d "
                          "might",
                          compare->n_base, STATS_TRIM_FROM);
    return buf_printf(out, ", which %zu repeats can't tell from settings",
                      compare->n_base);
}

/* Of an interval that goes beyond the double per cents say little. */
static int put_width(const struct compare_band *band, double half, struct buf *out)
{
    if (!noise_is_known(1 + band->change.low, 1 + band->change.high))
        return buf_append_str(out, "an unknown change");
    if (band->change.high > 1 && !band->is_linear)
        return buf_printf(out, "anything from %.2gx to %.2gx", 1 + band->change.low,
                          1 + band->change.high);
    return buf_append_str(out, "\xC2\xB1") || put_percent(out, half) ||
                   buf_append_str(out, " %")
               ? -1
               : 0;
}

static int put_noise(const struct compare *compare, const struct compare_band *band,
                     struct buf *out)
{
    double half = (band->change.high - band->change.low) / 2, margin = compare->margin;

    if (!isfinite(half))
        return buf_append_str(out, fabs(band->change.base) > 0
                                       ? "its values are too far apart to reckon with"
                                       : "its mean is 0");
    if (compare->by_run)
        return buf_append_str(out, "the usual range spans more than a factor of ten");
    if (put_width(band, half, out))
        return -1;
    if (band->repeats_needed >= STATS_REPEATS_MAX)
        return buf_printf(out, ", %d repeats would not resolve %g %%", STATS_REPEATS_MAX,
                          100 * margin);
    if (band->repeats_needed > 0)
        return buf_printf(out, ", %zu repeats would resolve %g %%", band->repeats_needed,
                          100 * margin);
    return 0;
}

int compare_why(const struct compare *compare, const struct compare_band *band,
                struct buf *out)
{
    switch (band->reason) {
    case COMPARE_FEW:
        return buf_printf(out, "%zu and %zu cases, at least %d each are needed",
                          compare->n_base, compare->n_head, COMPARE_CASES_MIN);
    case COMPARE_RUNS:
        return buf_printf(out, "%zu more run%s like base would show how runs scatter",
                          band->runs_needed, band->runs_needed == 1 ? "" : "s");
    case COMPARE_STATES:
        return put_states(compare, band, out) || put_states_cure(compare, out) ? -1 : 0;
    case COMPARE_NOISE:
        return put_noise(compare, band, out);
    default:
        return 0;
    }
}

/* ---- Parts of the sentence ---- */

static int put_repeats(const struct compare *compare, struct buf *out)
{
    if (compare->by_run)
        return buf_printf(out, "%zu run%s against %zu", compare->head_runs,
                          compare->head_runs == 1 ? "" : "s", compare->base_runs) ||
                       (compare->history > 0 &&
                        buf_printf(out, ", with the scatter of %zu more",
                                   compare->history))
                   ? -1
                   : 0;
    if (compare->is_paired)
        return buf_printf(out, "%zu repeats each", compare->n_base);
    if (compare->n_base == compare->n_head)
        return buf_printf(out, "%zu cases each", compare->n_base);
    return buf_printf(out, "%zu cases against %zu", compare->n_head, compare->n_base);
}

/* A change by a factor of ten or more reads better as a factor than in per cent. */
static bool is_factor(const struct compare_band *band)
{
    return !band->is_linear && fabs(log1p(band->change.change)) >= log(FACTOR_SHOWN);
}

/* "12", or "1/12" of what is less. */
static int put_factor(struct buf *out, double part)
{
    double factor = exp(fabs(log1p(part)));

    return buf_printf(out, "%s%.*f", part < 0 ? "1/" : "", factor < 9.95 ? 1 : 0, factor);
}

/* "is 4.1 % faster", "takes 3.0 % more time", "has 2.0 % less"; "takes 12 times as long",
 * "takes 1/12 of the time"; or "takes as long" instead of 0.0 %. */
static int put_change(const struct compare_band *band, struct buf *out)
{
    enum { TIME, SPEED, METRIC } kind;
    static const struct {
        const char *verb, *equal, *less, *more, *fraction, *times;
    } words[] = {
        [TIME] = {"takes ", "as long", " % less time", " % more time", " of the time",
                  " times as long"},
        [SPEED] = {"is ", "as fast", " % slower", " % faster", " as fast",
                   " times as fast"},
        [METRIC] = {"has ", "as much", " % less", " % more", " as much",
                    " times as much"},
    };
    double change = band->change.change;

    kind = json_object_get(band->about, "metric") ? METRIC
           : band_figure(band->band) == BAND_TIME ? TIME
                                                  : SPEED;
    if (buf_append_str(out, words[kind].verb))
        return -1;
    if (fabs(change) < PERCENT_SHOWN / 2)
        return buf_append_str(out, words[kind].equal);
    if (is_factor(band))
        return put_factor(out, change) ||
                       buf_append_str(out, change < 0 ? words[kind].fraction
                                                      : words[kind].times)
                   ? -1
                   : 0;
    return put_percent(out, change) ||
                   buf_append_str(out, change < 0 ? words[kind].less : words[kind].more)
               ? -1
               : 0;
}

/* Where a phrase of the sentence goes, and what all phrases share. */
struct part {
    const struct compare *compare;
    const struct compare_names *names;
    bool *has_repeats; /* how much data there is was said */
    struct buf *out;
};

static int put_found(const struct part *part, const struct compare_band *band)
{
    int (*put_end)(struct buf * out, double part) =
        is_factor(band) ? put_factor : put_percent;
    double ends[2] = {band->change.low, band->change.high};
    bool is_falling = fabs(ends[0]) > fabs(ends[1]);
    struct buf *out = part->out;

    if (put_change(band, out) || buf_append_str(out, " ") ||
        put_where(part->compare, band, out) || buf_append_str(out, " (") ||
        put_end(out, ends[is_falling]) || buf_append_str(out, " to ") ||
        put_end(out, ends[!is_falling]))
        return -1;
    if (!*part->has_repeats &&
        (buf_append_str(out, ", ") || put_repeats(part->compare, out)))
        return -1;
    *part->has_repeats = true;
    return buf_append_str(out, ")");
}

/* "up to 64M", "from 256M", "from 4M to 64M", "at 4M", where stretch i of n is. */
static int put_stretch(const struct compare_stretch *stretch, size_t i, size_t n,
                       struct buf *out)
{
    char from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];

    units_format_size((uint64_t)stretch->from, from);
    units_format_size((uint64_t)stretch->to, to);
    if (i == 0                  ? buf_printf(out, "up to %s (", to)
        : i + 1 == n            ? buf_printf(out, "from %s (", from)
        : strcmp(from, to) == 0 ? buf_printf(out, "at %s (", from)
                                : buf_printf(out, "from %s to %s (", from, to))
        return -1;
    return buf_printf(out, "%.0f to %.0f %%)", 100 * stretch->least, 100 * stretch->most);
}

/* "from 4M up Tree is faster up to 64M (2 to 71 %), Ring from 256M (4 to 9 %)", or
 * "from 4M up Tree is faster in some rows, Ring in others" */
static int put_mixed(const struct part *part, const struct compare_band *band)
{
    struct buf *out = part->out;

    if (put_where(part->compare, band, out))
        return -1;
    if (band->n_stretches == 0)
        return buf_printf(out, " %s is faster in some rows, %s in others",
                          part->names->setting_head, part->names->setting_base);
    for (size_t i = 0; i < band->n_stretches; i++) {
        const struct compare_stretch *stretch = &band->stretches[i];

        if (buf_printf(out, i == 0 ? " %s is faster " : ", %s ",
                       stretch->is_head_faster ? part->names->setting_head
                                               : part->names->setting_base) ||
            put_stretch(stretch, i, band->n_stretches, out))
            return -1;
    }
    return 0;
}

/* "up to 16K (±2.1 %, 1 run against 5)" */
static int put_usual(const struct part *part, const struct compare_band *band)
{
    struct buf *out = part->out;

    if (put_where(part->compare, band, out) || buf_append_str(out, " (\xC2\xB1") ||
        put_percent(out, band->usual) || buf_append_str(out, " %"))
        return -1;
    if (!*part->has_repeats &&
        (buf_append_str(out, ", ") || put_repeats(part->compare, out)))
        return -1;
    *part->has_repeats = true;
    return buf_append_str(out, ")");
}

static int put_same(const struct part *part, const struct compare_band *band)
{
    return put_where(part->compare, band, part->out);
}

/* "up to 16K (why)" */
static int put_open(const struct part *part, const struct compare_band *band)
{
    if (put_where(part->compare, band, part->out) || buf_append_str(part->out, " (") ||
        compare_why(part->compare, band, part->out))
        return -1;
    return buf_append_str(part->out, ")");
}

/* "is 1.2 % slower from 4M up (±2.1 %, 14 repeats would resolve 2 %)": the estimate comes
 * first. The number of cases or runs is the same for all bands and said once. */
static int put_seen(const struct part *part, const struct compare_band *band)
{
    struct buf *out = part->out;

    if (put_change(band, out) || buf_append_str(out, " ") ||
        put_where(part->compare, band, out))
        return -1;
    if (band->reason != COMPARE_NOISE && *part->has_repeats)
        return 0;
    *part->has_repeats = *part->has_repeats || band->reason != COMPARE_NOISE;
    return buf_append_str(out, " (") || compare_why(part->compare, band, out) ||
                   buf_append_str(out, ")")
               ? -1
               : 0;
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
    int (*put)(const struct part *part, const struct compare_band *band);
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
static int put_bands(const struct part *part, enum phrase phrase, size_t n)
{
    const struct compare *compare = part->compare;
    size_t told = 0;

    for (size_t i = 0; i < compare->n_bands && told < LISTED_MAX; i++) {
        const struct compare_band *band = &compare->bands[i];

        if (phrase_of(compare, band) != phrase)
            continue;
        if ((told > 0 && buf_append_str(part->out, told + 1 == n ? " and " : ", ")) ||
            phrases[phrase].put(part, band))
            return -1;
        told++;
    }
    return n > told ? buf_printf(part->out, " and in %zu more bands", n - told) : 0;
}

static int put_phrase(const struct part *part, enum phrase phrase, size_t n)
{
    struct buf *out = part->out;

    if (phrases[phrase].names_head && buf_printf(out, "%s ", part->names->head))
        return -1;
    if (phrase == IS_SAME &&
        buf_printf(out, "no difference of %g %% or more ", 100 * part->compare->margin))
        return -1;
    if (buf_append_str(out, phrases[phrase].before) || put_bands(part, phrase, n))
        return -1;
    if (phrase == IS_SAME && !*part->has_repeats) {
        *part->has_repeats = true;
        return buf_append_str(out, " (") || put_repeats(part->compare, out) ||
                       buf_append_str(out, ")")
                   ? -1
                   : 0;
    }
    return buf_append_str(out, phrases[phrase].after);
}

static int put_nothing(const struct compare *compare, struct buf *out)
{
    if (compare->n_base == 0 || compare->n_head == 0)
        return buf_printf(out,
                          "not enough data: %zu and %zu cases have completed, and at "
                          "least %d each are needed",
                          compare->n_base, compare->n_head, COMPARE_CASES_MIN);
    return buf_append_str(out, "not enough data: there is no size or metric that all "
                               "cases of both sides have");
}

int compare_sentence(const struct compare *compare, const struct compare_names *names,
                     struct buf *out)
{
    bool has_repeats = false, has_part = false;
    const struct part part = {compare, names, &has_repeats, out};

    if (compare->n_bands == 0)
        return put_nothing(compare, out);
    for (enum phrase phrase = IS_WORSE; phrase <= IS_OPEN; phrase++) {
        size_t n = count(compare, phrase);

        if (n == 0)
            continue;
        if ((has_part && buf_append_str(out, "; ")) || put_phrase(&part, phrase, n))
            return -1;
        has_part = true;
    }
    return 0;
}
