/* SPDX-License-Identifier: Apache-2.0 */
/* threshold.h - a named check that a run spec asks for: a figure of the run and the
 * bounds that it is to keep within. docs/reference/gates.md is the page of its users,
 * server/analysis/gate.h judges it. */
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
    THRESHOLD_DIP_PERCENT, /* by how much busbw falls as the size grows */
    THRESHOLD_RANKS,
    THRESHOLD_WRONG, /* elements */
    THRESHOLD_METRIC,
    THRESHOLD_FIGURES
};

/* Which of a metric's values. */
enum threshold_use {
    THRESHOLD_USE_MEDIAN,
    THRESHOLD_USE_MEAN,
    THRESHOLD_USE_MIN,
    THRESHOLD_USE_MAX,
    THRESHOLD_USE_LAST
};

/* Texts are borrowed from what it was read from. */
struct threshold {
    const char *name;
    enum threshold_figure figure;
    double min, max; /* infinite: none */
    /* Which rows it is about; -1: any. */
    int collective, dtype, redop, in_place;
    uint64_t size_range[2]; /* bytes as asked for; both ends count */
    int band;               /* enum band of bands.h, or -1: any */
    const char *metric;
    enum threshold_use use;
};

/* Of a spec's `thresholds`, an object of objects by name. */
spec_check threshold_check;

/* Read one of them. False after adding what is wrong with it. */
bool threshold_read(const char *name, json_t *value, struct threshold *out,
                    const char *pointer, struct problems *problems);

/* Add what the spec's thresholds ask that its run can't answer. */
void threshold_check_spec(const struct run_spec *spec, struct problems *problems);

const char *threshold_figure_name(enum threshold_figure figure);
const char *threshold_use_name(enum threshold_use use);

/* Whether it is about rows of collectives, and about those of a size as asked for. */
bool threshold_is_of_rows(enum threshold_figure figure);
bool threshold_has_size(const struct threshold *threshold, uint64_t bytes);

/* The table of a threshold's members, see spec_field.h. */
const struct spec_fields *threshold_fields(void);

#endif
