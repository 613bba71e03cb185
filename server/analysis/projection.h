/* projection.h - the time of a collective on more nodes than were measured, with its 95 %
 * interval. Plain functions; docs/method.md has the model and its sources. */
#ifndef RINGBENCH_SERVER_ANALYSIS_PROJECTION_H
#define RINGBENCH_SERVER_ANALYSIS_PROJECTION_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/spec/collective.h"
#include "server/analysis/compare_cases.h"

#define PROJECTION_NODES_MIN 3  /* one node and two have links of their own */
#define PROJECTION_COUNTS_MIN 4 /* of such node counts */
#define PROJECTION_SIZES_MIN 3
#define PROJECTION_FACTOR_MAX 8
#define PROJECTION_MODEL_MAX 20   /* halvings down from any node count */
#define PROJECTION_NOISE_MIN 0.01 /* of a time, even if the fit leaves less */
#define PROJECTION_WIDTH_MAX 2    /* the interval's end divided by its begin */

/* The time of one size on one node count. */
struct projection_point {
    size_t nodes, ranks;
    int64_t size;
    double time_us, low_us, high_us; /* the median and the extremes of cases */
    size_t cases;
};

struct projection_question {
    enum collective_kind kind;
    const struct projection_point *points; /* of all sizes, by rising node count */
    size_t n_points;                       /* at least 1 */
    int64_t size;
    size_t nodes, ranks; /* asked about */
};

enum projection_answer {
    PROJECTION_DONE,
    PROJECTION_FAR,  /* more than PROJECTION_FACTOR_MAX times the largest count */
    PROJECTION_FEW,  /* too few node counts or sizes to fit */
    PROJECTION_WIDE, /* the interval is too wide to be useful */
    PROJECTION_ANSWERS
};

struct projection {
    enum projection_answer answer;
    /* The fit and its interval on the count asked about, its half, its quarter ... */
    struct projection_point model[PROJECTION_MODEL_MAX];
    size_t n_model;
    size_t measure;                   /* if refused: the node count to measure first */
    double size_from, size_to;        /* the sizes that the fit uses */
    size_t n_counts, n_sizes, n_rows; /* that it has */
    double noise;                     /* the part of a time that it leaves */
};

void projection_make(const struct projection_question *question, struct projection *out);

/* Every size of every series of runs on several node counts: {"runs","nodes","ranks",
 * "verdict","sizes":[...]}, the verdict of kind `projection`. A new object; NULL with err
 * when a run is not like the first (ERROR_INVALID). */
json_t *projection_json(const struct compare_run *runs, size_t n, size_t nodes,
                        struct error *err);

#endif
