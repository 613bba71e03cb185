/* headline.c - the one figure that stands for a run */
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

void headline_add(struct headline *headline, const json_t *about, int64_t size,
                  double busbw_gbs)
{
    int64_t series = json_get_int(about, "series", 0);
    bool is_first = median_count(&headline->busbw_gbs) == 0 || series < headline->series;

    if (!is_first && (series > headline->series || size < headline->size))
        return;
    if (is_first || size > headline->size) {
        median_release(&headline->busbw_gbs);
        headline->series = series;
        headline->size = size;
        snprintf(headline->collective, sizeof(headline->collective), "%s",
                 json_get_str(about, "collective", "?"));
    }
    /* A row that finds no memory is left out: the others still have a median. */
    (void)median_add(&headline->busbw_gbs, busbw_gbs);
}

/* Behind the point, so that three count. */
static int digits_of(double value)
{
    int digits = value != 0.0 ? 2 - (int)floor(log10(fabs(value))) : 2;

    return digits < 0 ? 0 : digits > 8 ? 8 : digits;
}

json_t *headline_json(const struct headline *headline)
{
    size_t rows = median_count(&headline->busbw_gbs);
    char text[HEADLINE_TEXT_MAX];

    if (rows == 0)
        return json_null();
    return json_pack("{s:s, s:I, s:f, s:I, s:s}", "collective", headline->collective,
                     "size", (json_int_t)headline->size, "busbw_gbs",
                     median_of(&headline->busbw_gbs), "rows", (json_int_t)rows, "text",
                     headline_text(headline, text));
}

json_t *headline_of_metric(const char *metric, const char *unit,
                           const struct median *values)
{
    char text[HEADLINE_TEXT_MAX];
    size_t rows = median_count(values);
    double value = median_of(values);

    if (rows == 0)
        return json_null();
    snprintf(text, sizeof(text), "%.*f %.40s", digits_of(value), value,
             *unit ? unit : metric);
    utf8_trim(text);
    return json_pack("{s:s, s:f, s:s, s:I, s:s}", "metric", metric, "value", value,
                     "unit", unit, "rows", (json_int_t)rows, "text", text);
}

const char *headline_text(const struct headline *headline, char text[HEADLINE_TEXT_MAX])
{
    double value = median_of(&headline->busbw_gbs);
    char size[UNITS_TEXT_MAX];

    snprintf(text, HEADLINE_TEXT_MAX, "%.*f GB/s at %s", digits_of(value), value,
             units_format_size((uint64_t)headline->size, size));
    return text;
}
