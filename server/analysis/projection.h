/* SPDX-License-Identifier: Apache-2.0 */
/* projection.h - projects a collective's time on more nodes than were measured, with a 95
 * % interval. The functions do no I/O; docs/explanation/method.md describes the model and
 * its sources. */
#ifndef RINGBENCH_SERVER_ANALYSIS_PROJECTION_H
#define RINGBENCH_SERVER_ANALYSIS_PROJECTION_H

#include <jansson.h>
#include <stddef.h>

#include "common/spec/collective.h"
#include "server/analysis/compare_cases.h"
#include "server/finding/messages.h"

/* Smallest node count in a fit. One and two nodes use other links than larger counts. */
#define PROJECTION_NODES_MIN 3
#define PROJECTION_COUNTS_MIN 4 /* minimum number of such node counts */
#define PROJECTION_SIZES_MIN 3
/* All sizes of at least this fraction of the projected size are part of the fit. */
#define PROJECTION_SIZE_PART 0.25
#define PROJECTION_FACTOR_MAX 8
/* Minimum relative noise, applied if the fit's residual is smaller */
#define PROJECTION_NOISE_MIN 0.01
/* Maximum ratio of the interval's upper end to its lower end */
#define PROJECTION_WIDTH_MAX 2

/* The time of one size on one node count. */
struct projection_point {
    size_t nodes, ranks;
    int64_t size;
    double time_us, low_us, high_us; /* median and extremes of the cases */
    size_t cases;                    /* number of cases; 0: the time is projected */
};

struct projection_question {
    enum collective_kind kind;
    /* Points of all sizes, by ascending node count */
    const struct projection_point *points;
    size_t n_points;   /* at least 1 */
    const json_t *key; /* key of the points' series */
    int64_t size;
    size_t nodes, ranks; /* requested */
};

struct projection {
    /* MESSAGE_PROJECTED, or the reason why there is no projection */
    enum message_id message;
    /* Time on the requested count; set for PROJECTED and WIDE */
    struct projection_point at;
    double size_from, size_to; /* range of sizes in the fit */
    /* Numbers of node counts, sizes and points in the fit */
    size_t n_counts, n_sizes, n_rows;
    double noise;   /* relative residual of the fit */
    size_t measure; /* if there is no projection: the node count to measure first */
};

void projection_make(const struct projection_question *question, struct projection *out);

/* Project every size of every series of a run over several node counts. Only completed
 * cases with the same variables as the first one are used. Returns a new object
 * {"run","nodes","ranks","verdict","sizes":[...]} with a `projection` verdict. */
json_t *projection_json(const struct compare_run *run, size_t nodes);

#endif
