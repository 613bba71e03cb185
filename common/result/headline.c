/* SPDX-License-Identifier: Apache-2.0 */
/* headline.c - computes the single figure that represents a run */
#include "common/result/headline.h"

#include <math.h>
#include <stdio.h>

#include "common/base/json_util.h"
#include "common/base/units.h"
#include "common/base/utf8.h"

void headline_release(struct headline *headline)
{
    median_release(&headline->busbw_gbs);
}

/* Extend the interval by a row's interval. A longer time means a lower bandwidth, so the
 * ends swap. */
static void widen(struct headline *headline, double busbw_gbs,
                  const struct certainty *certainty)
{
    double low = busbw_gbs, high = busbw_gbs;

    if (certainty->is_judged) {
        headline->is_judged = true;
        low = busbw_gbs / (1 + certainty->above);
        high = certainty->below < 1 ? busbw_gbs / (1 - certainty->below) : HUGE_VAL;
    }
    if (headline->busbw_gbs.n == 0 || low < headline->low)
        headline->low = low;
    if (headline->busbw_gbs.n == 0 || high > headline->high)
        headline->high = high;
}

void headline_add(struct headline *headline, const json_t *about, int64_t size,
                  double busbw_gbs, const struct certainty *certainty)
{
    int64_t series = json_get_int(about, "series", 0);
    bool is_first = headline->busbw_gbs.n == 0 || series < headline->series;

    if (busbw_gbs <= 0.0 ||
        (!is_first && (series > headline->series || size < headline->size)))
        return;
    if (is_first || size > headline->size) {
        median_release(&headline->busbw_gbs);
        headline->series = series;
        headline->size = size;
        headline->is_judged = false;
        snprintf(headline->collective, sizeof(headline->collective), "%s",
                 json_get_str(about, "collective", "?"));
    }
    widen(headline, busbw_gbs, certainty);
    median_add(&headline->busbw_gbs, busbw_gbs);
}

/* Return the number of decimals that gives three significant digits. */
static int digits_of(double value)
{
    int digits = value != 0.0 ? 2 - (int)floor(log10(fabs(value))) : 2;

    return digits < 0 ? 0 : digits > 8 ? 8 : digits;
}

json_t *headline_json(const struct headline *headline)
{
    size_t rows = headline->busbw_gbs.n;
    char text[HEADLINE_TEXT_MAX];
    json_t *out;

    if (rows == 0)
        return json_null();
    out = json_pack("{s:s, s:I, s:f, s:I, s:s}", "collective", headline->collective,
                    "size", (json_int_t)headline->size, "busbw_gbs",
                    median_of(&headline->busbw_gbs), "rows", (json_int_t)rows, "text",
                    headline_text(headline, text));
    if (out && headline->is_judged)
        json_object_set_new(out, "interval",
                            noise_is_known(headline->low, headline->high)
                                ? json_pack("[f, f]", headline->low, headline->high)
                                : json_null());
    return out;
}

json_t *headline_of_metric(const char *metric, const char *unit,
                           const struct median *values)
{
    char text[HEADLINE_TEXT_MAX];
    size_t rows = values->n;
    double value = median_of(values);

    if (rows == 0)
        return json_null();
    snprintf(text, sizeof(text), "%.*f %.40s", digits_of(value), value,
             *unit ? unit : metric);
    utf8_trim(text);
    return json_pack("{s:s, s:f, s:s, s:I, s:s}", "metric", metric, "value", value,
                     "unit", unit, "rows", (json_int_t)rows, "text", text);
}

double headline_half(const struct headline *headline)
{
    double value = median_of(&headline->busbw_gbs);

    return headline->is_judged && value > 0 ? (headline->high - headline->low) / 2 / value
                                            : 0;
}

const char *headline_interval(const struct headline *headline,
                              char text[HEADLINE_TEXT_MAX])
{
    double low = headline->low, high = headline->high;

    if (!noise_is_known(low, high))
        return "unknown";
    snprintf(text, HEADLINE_TEXT_MAX, "%.*f to %.*f", digits_of(low), low,
             digits_of(high), high);
    return text;
}

const char *headline_text(const struct headline *headline, char text[HEADLINE_TEXT_MAX])
{
    double value = median_of(&headline->busbw_gbs);
    char size[UNITS_TEXT_MAX];

    snprintf(text, HEADLINE_TEXT_MAX, "%.*f GB/s at %s", digits_of(value), value,
             units_format_size((uint64_t)headline->size, size));
    return text;
}
