/* trend.h - what a figure did over time: verdicts of the kind `change` */
#ifndef RINGBENCH_SERVER_ANALYSIS_TREND_H
#define RINGBENCH_SERVER_ANALYSIS_TREND_H

#include <jansson.h>
#include <stdbool.h>

#include "common/spec/bands.h"

struct trend_figure {
    const char *collective, *dtype; /* names of ours */
    bool in_place;
    enum band band;
};

/* {"collective","dtype","in_place","band","name","unit","higher_is_better"}; a new
 * reference. */
json_t *trend_figure_json(const struct trend_figure *figure);

/* What each series on a page did, from an answer of store_get_trends (points, window,
 * texts; borrowed): [{"series","run","created","change","p","verdict"}], newest
 * first. Changes within the margin (a part, 0.02 is 2 %) count as none. A series without
 * a change has null for run, created and change; its p is null if it has too few runs.
 * Over all series of so many requests together the rate of false discoveries is at most
 * CHANGE_POINTS_LEVEL: each request has an equal share of it. The points of `answer` get
 * `change`: by which part the level changed with them, or null. A new array. */
json_t *trend_verdicts(json_t *answer, const struct trend_figure *figure, double margin,
                       size_t requests);

#endif
