/* headline.c - the one figure that stands for a run */
#include "common/result/headline.h"

#include <math.h>
#include <stdio.h>

#include "common/base/json_util.h"
#include "common/base/units.h"

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

json_t *headline_json(const struct headline *headline)
{
    size_t rows = median_count(&headline->busbw_gbs);

    if (rows == 0)
        return json_null();
    return json_pack("{s:s, s:I, s:f, s:I}", "collective", headline->collective, "size",
                     (json_int_t)headline->size, "busbw_gbs",
                     median_of(&headline->busbw_gbs), "rows", (json_int_t)rows);
}

const char *headline_text(const struct headline *headline, char text[HEADLINE_TEXT_MAX])
{
    double value = median_of(&headline->busbw_gbs);
    int digits = value > 0.0 ? 2 - (int)floor(log10(value)) : 2;
    char size[UNITS_TEXT_MAX];

    snprintf(text, HEADLINE_TEXT_MAX, "%.*f GB/s at %s",
             digits < 0   ? 0
             : digits > 8 ? 8
                          : digits,
             value, units_format_size((uint64_t)headline->size, size));
    return text;
}
