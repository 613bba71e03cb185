/* SPDX-License-Identifier: Apache-2.0 */
/* projection.h - projects a collective's time on more nodes than were measured, with its
 * 95 % interval. Pure; docs/explanation/method.md has the model and its sources. */
#ifndef RINGBENCH_SERVER_ANALYSIS_PROJECTION_H
#define RINGBENCH_SERVER_ANALYSIS_PROJECTION_H

#include <jansson.h>
#include <stddef.h>

#include "common/spec/collective.h"
#include "server/analysis/compare_cases.h"
#include "server/finding/messages.h"

/* One and two nodes use different links than larger counts. */
#define PROJECTION_NODES_MIN 3
#define PROJECTION_COUNTS_MIN 4 /* of such node counts */
#define PROJECTION_SIZES_MIN 3
/* Smallest fraction of the size that the fit always uses. */
#define PROJECTION_SIZE_PART 0.25
#define PROJECTION_FACTOR_MAX 8
#define PROJECTION_NOISE_MIN 0.01 /* relative to a time, even if the fit leaves less */
#define PROJECTION_WIDTH_MAX 2    /* upper end of the interval divided by its lower end */

/* The time for a size on a node count. */
struct projection_point {
    size_t nodes, ranks;
    int64_t size;
    double time_us, low_us, high_us; /* median and extremes of the cases */
    size_t cases;                    /* 0: projected */
};

struct projection_question {
    enum collective_kind kind;
    const struct projection_point *points; /* of all sizes, by ascending node count */
    size_t n_points;                       /* at least 1 */
    const json_t *key;                     /* of their series */
    int64_t size;
    size_t nodes, ranks; /* requested */
};

struct projection {
    enum message_id message;    /* MESSAGE_PROJECTED, or the reason for a refusal */
    struct projection_point at; /* on the requested count; set for PROJECTED and WIDE */
    double size_from, size_to;  /* range of sizes in the fit */
    size_t n_counts, n_sizes, n_rows; /* in the fit */
    double noise;                     /* relative residual of the fit */
    size_t measure;                   /* if refused: the node count to measure first */
};

void projection_make(const struct projection_question *question, struct projection *out);

/* Project every size of every series from a run over several node counts. Uses the
 * completed cases with the first one's variables. Returns a new object
 * {"run","nodes","ranks","verdict","sizes":[...]} with a `projection` verdict. */
json_t *projection_json(const struct compare_run *run, size_t nodes);

#endif
