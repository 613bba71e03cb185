/* SPDX-License-Identifier: Apache-2.0 */
/* threshold.h - parses and validates the named checks in a run spec: a figure of the run
 * and its bounds. docs/reference/gates.md describes the checks for users;
 * server/analysis/gate.h evaluates them. */
#ifndef RINGBENCH_COMMON_SPEC_THRESHOLD_H
#define RINGBENCH_COMMON_SPEC_THRESHOLD_H

#include "common/spec/run_spec.h"
#include "common/spec/spec_field.h"

#define THRESHOLDS_MAX 32
#define THRESHOLD_NAME_MAX 64 /* bytes */

enum threshold_figure {
    THRESHOLD_TIME_US,
    THRESHOLD_ALGBW_GBS,
    THRESHOLD_BUSBW_GBS,
    THRESHOLD_DIP_PERCENT, /* the largest fall of busbw as the size grows */
    THRESHOLD_RANKS,
    THRESHOLD_WRONG, /* number of wrong elements */
    THRESHOLD_METRIC,
    THRESHOLD_FIGURES
};

/* Which statistic of a metric's values is checked. */
enum threshold_use {
    THRESHOLD_USE_MEDIAN,
    THRESHOLD_USE_MEAN,
    THRESHOLD_USE_MIN,
    THRESHOLD_USE_MAX,
    THRESHOLD_USE_LAST
};

/* Texts are borrowed from the parsed value. */
struct threshold {
    const char *name;
    enum threshold_figure figure;
    double min, max; /* infinite: no bound */
    /* The rows that the threshold checks; -1: any. */
    int collective, dtype, redop, in_place;
    uint64_t size_range[2]; /* lowest and highest requested size, bytes, both inclusive */
    int band;               /* enum band of bands.h, or -1: any */
    const char *metric;
    enum threshold_use use;
};

/* Check a spec's `thresholds`, an object of thresholds keyed by name. */
spec_check threshold_check;

/* Parse one threshold. Return false after adding its errors. */
bool threshold_read(const char *name, json_t *value, struct threshold *out,
                    const char *pointer, struct problems *problems);

/* Add a problem for each threshold that the spec's run cannot evaluate. */
void threshold_check_spec(const struct run_spec *spec, struct problems *problems);

const char *threshold_figure_name(enum threshold_figure figure);
const char *threshold_use_name(enum threshold_use use);

/* threshold_is_of_rows() returns true if a figure belongs to rows of collectives.
 * threshold_has_size() returns true if the threshold checks rows of the requested
 * size. */
bool threshold_is_of_rows(enum threshold_figure figure);
bool threshold_has_size(const struct threshold *threshold, uint64_t bytes);

/* The table of a threshold's members, see spec_field.h. */
const struct spec_fields *threshold_fields(void);

#endif
