/* SPDX-License-Identifier: Apache-2.0 */
/* trend.h - changes of a figure over time: verdicts of the kind `change` */
#ifndef RINGBENCH_SERVER_ANALYSIS_TREND_H
#define RINGBENCH_SERVER_ANALYSIS_TREND_H

#include <jansson.h>
#include <stdbool.h>

#include "common/spec/bands.h"

struct trend_figure {
    const char *collective, *dtype; /* names from our tables */
    bool in_place;
    enum band band;
};

/* Return a new object {"collective","dtype","in_place","band","name","unit",
 * "higher_is_better"}. */
json_t *trend_figure_json(const struct trend_figure *figure);

/* Return a new array [{"series","run","created","change","p","verdict"}] for the series
 * on a page, newest first. answer: from store_get_trends() (points, window, texts;
 * borrowed). Changes within the margin (a fraction, 0.02 is 2 %) count as none. A series
 * without change has null for run, created and change, and also for p if it has too few
 * runs. The false discovery rate over all series of `requests` requests is at most
 * CHANGE_POINTS_LEVEL; each request gets an equal share. Sets `change` of the answer's
 * points: the fraction by which the level changed there, or null. */
json_t *trend_verdicts(json_t *answer, const struct trend_figure *figure, double margin,
                       size_t requests);

#endif
