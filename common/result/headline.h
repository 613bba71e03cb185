/* SPDX-License-Identifier: Apache-2.0 */
/* headline.h - computes the single figure that represents a run: the median bus bandwidth
 * at the largest size of the run's first series, over all repeats and cycles. The first
 * series has the lowest number in the first combination of variables that was measured.
 * Unlike the maximum, the median does not grow with the number of repeats. The headline
 * of a run without collectives is the median of a metric. */
#ifndef RINGBENCH_COMMON_RESULT_HEADLINE_H
#define RINGBENCH_COMMON_RESULT_HEADLINE_H

#include <jansson.h>
#include <stdint.h>

#include "common/base/median.h"
#include "common/result/noise.h"

#define HEADLINE_TEXT_MAX 64

/* All zero: no measurement yet. */
struct headline {
    int64_t series, size; /* number of the first series, and its largest size in bytes */
    char collective[24];
    struct median busbw_gbs;
    bool is_judged;   /* true if at least one row comes with an interval */
    double low, high; /* lowest and highest end of the rows' intervals, GB/s */
};

void headline_release(struct headline *headline);

/* Add a row of the first combination that was measured. about: an object with the row's
 * "series" and "collective". A single rank has a bus bandwidth of 0, which is ignored. */
void headline_add(struct headline *headline, const json_t *about, int64_t size,
                  double busbw_gbs, const struct certainty *certainty);

/* Return {"collective","size","busbw_gbs","rows","text","interval"}, or null before the
 * first measurement. interval: [low, high] in GB/s; null if unknown; absent if no row
 * comes with an interval. The result is a new reference. */
json_t *headline_json(const struct headline *headline);

/* Return the headline of a run without collectives, {"metric","value","unit","rows",
 * "text"}: the median over all values of a metric, null if there are none. The result is
 * a new reference. */
json_t *headline_of_metric(const char *metric, const char *unit,
                           const struct median *values);

/* Return half the width of the headline's interval, as a fraction of its value; 0 if its
 * rows have no intervals. */
double headline_half(const struct headline *headline);

/* Format the interval, such as "44.2 to 47.1" in GB/s, in `text` and return it, or return
 * "unknown". */
const char *headline_interval(const struct headline *headline,
                              char text[HEADLINE_TEXT_MAX]);

/* Format the headline, such as "46.5 GB/s at 256M", and return `text`. */
const char *headline_text(const struct headline *headline, char text[HEADLINE_TEXT_MAX]);

#endif
