/* SPDX-License-Identifier: Apache-2.0 */
/* trend.h - finds changes of a figure over time, for verdicts of the kind `change` */
#ifndef RINGBENCH_SERVER_ANALYSIS_TREND_H
#define RINGBENCH_SERVER_ANALYSIS_TREND_H

#include <jansson.h>
#include <stdbool.h>

#include "common/spec/bands.h"

struct trend_figure {
    /* Names from ringbench's tables of collectives and data types */
    const char *collective, *dtype;
    bool in_place;
    enum band band;
};

/* Return a new object {"collective","dtype","in_place","band","name","unit",
 * "higher_is_better"}. */
json_t *trend_figure_json(const struct trend_figure *figure);

/* Return a new array [{"series","run","created","change","p","verdict"}] for the series
 * on a page, newest change first. answer: from store_get_trends() (points, window, texts;
 * borrowed). Changes within the margin (a fraction, 0.02 is 2 %) are ignored. A series
 * without a change has null for run, created and change. With too few runs, p is null,
 * too. The false discovery rate over all series of `requests` requests is at most
 * CHANGE_POINTS_LEVEL; each request gets an equal share. Sets `change` in the answer's
 * points: the fraction by which the level changed at the point, or null. */
json_t *trend_verdicts(json_t *answer, const struct trend_figure *figure, double margin,
                       size_t requests);

#endif
