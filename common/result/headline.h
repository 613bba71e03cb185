/* SPDX-License-Identifier: Apache-2.0 */
/* headline.h - the one figure that stands for a run: the median bus bandwidth at the
 * largest size that its first series has measured, over all repeats and cycles. The first
 * series is the lowest of the first combination of variables that has measured anything.
 * Unlike the greatest of all rows it does not grow with the number of repeats. Where no
 * collective was measured it is the median of a metric. */
#ifndef RINGBENCH_COMMON_RESULT_HEADLINE_H
#define RINGBENCH_COMMON_RESULT_HEADLINE_H

#include <jansson.h>
#include <stdint.h>

#include "common/base/median.h"
#include "common/result/noise.h"

#define HEADLINE_TEXT_MAX 64

/* All zero: nothing was measured yet. */
struct headline {
    int64_t series, size; /* bytes */
    char collective[24];
    struct median busbw_gbs;
    bool is_judged;   /* some of its rows have an interval */
    double low, high; /* from the lowest to the highest end of all of them, in GB/s */
};

void headline_release(struct headline *headline);

/* Take a row of the first combination that was measured. about: has its "series" and
 * "collective". A single rank has a bus bandwidth of 0, which stands for nothing. */
void headline_add(struct headline *headline, const json_t *about, int64_t size,
                  double busbw_gbs, const struct certainty *certainty);

/* {"collective","size","busbw_gbs","rows","text","interval"}, or null while nothing was
 * measured. interval: [low, high] in GB/s, null where it is not known, absent where rows
 * have none. A new reference. */
json_t *headline_json(const struct headline *headline);

/* The same for a run that has measured no collective: {"metric","value","unit","rows",
 * "text"}, the median of a metric over all that was said of it; null while nothing was.
 */
json_t *headline_of_metric(const char *metric, const char *unit,
                           const struct median *values);

/* Half the width of the headline's interval, as a fraction of its value; 0 if its rows
 * have no intervals. */
double headline_half(const struct headline *headline);

/* "44.2 to 47.1", or "unknown"; returns text. */
const char *headline_interval(const struct headline *headline,
                              char text[HEADLINE_TEXT_MAX]);

/* "46.5 GB/s at 256M"; returns text. */
const char *headline_text(const struct headline *headline, char text[HEADLINE_TEXT_MAX]);

#endif
