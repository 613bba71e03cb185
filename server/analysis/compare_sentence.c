/* compare_sentence.c - a comparison in one sentence */
#include "server/analysis/compare_sentence.h"

#include <math.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/result/noise.h"

#define LISTED_MAX 4 /* bands by name, in each part */

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

static int put_noise(const struct compare_band *band, struct buf *out)
{
    double half = (band->change.high - band->change.low) / 2;

    if (!isfinite(half))
        return buf_append_str(out, fabs(band->change.base) > 0
                                       ? "its values are too far apart to reckon with"
                                       : "its mean is 0");
    if (put_width(band, half, out))
        return -1;
    if (band->repeats_needed >= STATS_REPEATS_MAX)
        return buf_printf(out, ", %d repeats would not resolve %g %%", STATS_REPEATS_MAX,
                          100 * COMPARE_SAME);
    if (band->repeats_needed > 0)
        return buf_printf(out, ", %zu repeats would resolve %g %%", band->repeats_needed,
                          100 * COMPARE_SAME);
    return 0;
}

int compare_why(const struct compare *compare, const struct compare_band *band,
                struct buf *out)
{
    switch (band->reason) {
    case COMPARE_FEW:
        return buf_printf(out, "%zu and %zu cases, at least %d each are needed",
                          compare->n_base, compare->n_head, COMPARE_CASES_MIN);
    case COMPARE_STATES:
        return put_states(compare, band, out) || put_states_cure(compare, out) ? -1 : 0;
    case COMPARE_NOISE:
        return put_noise(band, out);
    default:
        return 0;
    }
}

/* ---- Parts of the sentence ---- */

static int put_repeats(const struct compare *compare, struct buf *out)
{
    if (compare->is_paired)
        return buf_printf(out, "%zu repeats each", compare->n_base);
    if (compare->n_base == compare->n_head)
        return buf_printf(out, "%zu cases each", compare->n_base);
    return buf_printf(out, "%zu cases against %zu", compare->n_head, compare->n_base);
}

/* "is 4.1 % faster", "takes 3.0 % more time", "has 2.0 % less". */
static int put_change(const struct compare_band *band, struct buf *out)
{
    bool is_more = band->change.change > 0;
    bool is_metric = json_object_get(band->about, "metric") != NULL;
    bool is_time = !is_metric && band_figure(band->band) == BAND_TIME;

    if (buf_append_str(out, is_metric ? "has "
                            : is_time ? "takes "
                                      : "is ") ||
        put_percent(out, band->change.change))
        return -1;
    if (is_metric)
        return buf_append_str(out, is_more ? " % more" : " % less");
    if (is_time)
        return buf_append_str(out, is_more ? " % more time" : " % less time");
    return buf_append_str(out, is_more ? " % faster" : " % slower");
}

static int put_found(const struct compare *compare, const struct compare_band *band,
                     bool *has_repeats, struct buf *out)
{
    double ends[2] = {fabs(band->change.low), fabs(band->change.high)};
    bool is_falling = ends[0] > ends[1];

    if (put_change(band, out) || buf_append_str(out, " ") ||
        put_where(compare, band, out) || buf_append_str(out, " (") ||
        put_percent(out, ends[is_falling]) || buf_append_str(out, " to ") ||
        put_percent(out, ends[!is_falling]))
        return -1;
    if (!*has_repeats && (buf_append_str(out, ", ") || put_repeats(compare, out)))
        return -1;
    *has_repeats = true;
    return buf_append_str(out, ")");
}

static size_t count(const struct compare *compare, enum verdict_answer answer)
{
    size_t n = 0;

    for (size_t i = 0; i < compare->n_bands; i++)
        n += compare->bands[i].answer == answer;
    return n;
}

typedef int put_band(const struct compare *compare, const struct compare_band *band,
                     bool *has_repeats, struct buf *out);

/* The bands of one answer, a few of them by name. */
static int put_all(const struct compare *compare, enum verdict_answer answer,
                   put_band *put, bool *has_repeats, struct buf *out)
{
    size_t n = count(compare, answer), told = 0;

    for (size_t i = 0; i < compare->n_bands && told < LISTED_MAX; i++) {
        const struct compare_band *band = &compare->bands[i];

        if (band->answer != answer)
            continue;
        if ((told > 0 && buf_append_str(out, told + 1 == n ? " and " : ", ")) ||
            put(compare, band, has_repeats, out))
            return -1;
        told++;
    }
    return n > told ? buf_printf(out, " and in %zu more bands", n - told) : 0;
}

static int put_same(const struct compare *compare, const struct compare_band *band,
                    bool *has_repeats, struct buf *out)
{
    (void)has_repeats;
    return put_where(compare, band, out);
}

static int put_open(const struct compare *compare, const struct compare_band *band,
                    bool *has_repeats, struct buf *out)
{
    (void)has_repeats;
    if (put_where(compare, band, out) || buf_append_str(out, " ("))
        return -1;
    return compare_why(compare, band, out) || buf_append_str(out, ")") ? -1 : 0;
}

static int put_seen(const struct compare *compare, const struct compare_band *band,
                    bool *has_repeats, struct buf *out)
{
    (void)has_repeats;
    if (isnan(band->change.change)) /* of nothing there is no part */
        return buf_append_str(out, "can't be told in parts of base ") ||
                       put_where(compare, band, out)
                   ? -1
                   : 0;
    return put_change(band, out) || buf_append_str(out, " ") ||
                   put_where(compare, band, out)
               ? -1
               : 0;
}

/* Too few cases for any interval: what they show is said, and that it is no verdict. */
static int put_few(const struct compare *compare, const char *head, struct buf *out)
{
    bool has_repeats = true;

    if (buf_printf(out,
                   "not enough data: %zu and %zu cases have completed, and at least %d "
                   "each are needed",
                   compare->n_base, compare->n_head, COMPARE_CASES_MIN))
        return -1;
    if (compare->n_bands == 0)
        return 0;
    return buf_printf(out, "; in these %s ", head) ||
                   put_all(compare, VERDICT_NOT_ENOUGH_DATA, put_seen, &has_repeats, out)
               ? -1
               : 0;
}

static int put_nothing(const struct compare *compare, const char *head, struct buf *out)
{
    if (compare->n_base == 0 || compare->n_head == 0 || compare->n_bands > 0)
        return put_few(compare, head, out);
    return buf_append_str(out, "not enough data: there is no size or metric that all "
                               "cases of both sides have");
}

static bool is_hopeless(const struct compare *compare)
{
    return compare->n_bands == 0 || compare->bands[0].reason == COMPARE_FEW;
}

static int join(struct buf *out, bool *has_part)
{
    bool had = *has_part;

    *has_part = true;
    return had ? buf_append_str(out, "; ") : 0;
}

static int put_sames(const struct compare *compare, bool *has_part, bool *has_repeats,
                     struct buf *out)
{
    size_t n = count(compare, VERDICT_SAME);

    if (n == 0)
        return 0;
    if (join(out, has_part) ||
        buf_append_str(out, n == compare->n_bands ? "no difference of 2 % or more "
                                                  : "no difference ") ||
        put_all(compare, VERDICT_SAME, put_same, has_repeats, out))
        return -1;
    if (*has_repeats)
        return 0;
    *has_repeats = true;
    return buf_append_str(out, " (") || put_repeats(compare, out) ||
                   buf_append_str(out, ")")
               ? -1
               : 0;
}

int compare_sentence(const struct compare *compare, const char *head, struct buf *out)
{
    static const enum verdict_answer found[] = {VERDICT_WORSE, VERDICT_BETTER};
    bool has_part = false, has_repeats = false;

    if (is_hopeless(compare))
        return put_nothing(compare, head, out);
    for (size_t i = 0; i < 2; i++)
        if (count(compare, found[i]) > 0 &&
            (join(out, &has_part) || buf_printf(out, "%s ", head) ||
             put_all(compare, found[i], put_found, &has_repeats, out)))
            return -1;
    if (put_sames(compare, &has_part, &has_repeats, out))
        return -1;
    if (count(compare, VERDICT_NOT_ENOUGH_DATA) > 0 &&
        (join(out, &has_part) || buf_append_str(out, "not enough data ") ||
         put_all(compare, VERDICT_NOT_ENOUGH_DATA, put_open, &has_repeats, out)))
        return -1;
    return 0;
}
