/* projection.h - what a collective would take on more nodes than were measured: latency
 * and bandwidth fitted over node counts, with the error that the fit made on the largest
 * count when it had not seen it. Plain functions; docs/method.md has the terms. */
#ifndef RINGBENCH_SERVER_ANALYSIS_PROJECTION_H
#define RINGBENCH_SERVER_ANALYSIS_PROJECTION_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/error.h"
#include "server/analysis/compare_cases.h"

#define PROJECTION_NODES_MIN 3  /* one node and two have links of their own */
#define PROJECTION_COUNTS_MIN 3 /* of such node counts */
#define PROJECTION_COUNTS_MAX 64
#define PROJECTION_SIZES_MIN 3 /* in which a change of algorithm would show */
#define PROJECTION_FACTOR_MAX 8
#define PROJECTION_ERROR_MAX 0.1
#define PROJECTION_WIDTH_MAX 2   /* of the interval: its end by its begin */
#define PROJECTION_BEND_MAX 0.05 /* of the sizes' times about a straight line */

/* A time of one size on so many nodes: the median of its cases, and their extremes. */
struct projection_point {
    size_t nodes, ranks;
    double time_us;
    size_t cases;
    double low_us, high_us;
};

struct projection_question {
    const struct projection_point *points; /* by rising nodes, each count once */
    size_t n_points;
    int64_t size;
    const struct case_point *curve; /* times of all sizes on the largest count, rising */
    size_t n_curve;
    size_t nodes, ranks; /* asked about */
};

enum projection_answer {
    PROJECTION_DONE,
    PROJECTION_FEW,   /* node counts */
    PROJECTION_FAR,   /* more than PROJECTION_FACTOR_MAX times the largest */
    PROJECTION_OFF,   /* it would not have told the largest */
    PROJECTION_WIDE,  /* what was measured leaves too much open */
    PROJECTION_ALONE, /* too few sizes to see a change of algorithm */
    PROJECTION_BENT,  /* there is one */
    PROJECTION_ANSWERS
};

struct projection {
    enum projection_answer answer;
    size_t measure;   /* refused: the node count to measure first */
    const char *form; /* of the time: the terms that are in it; static */
    double time_us, low_us, high_us;
    double error; /* on the largest count, fitted to the others; a part of it */
    double size_from, size_to; /* in which a change of algorithm would show */
};

/* Counts below PROJECTION_NODES_MIN are passed over. */
void projection_make(const struct projection_question *question, struct projection *out);

/* What the fit says of another count, for one that was made. */
void projection_at(const struct projection_question *question, size_t nodes, size_t ranks,
                   struct projection *out);

/* Every size of every series of runs on several node counts: {"runs","nodes","ranks",
 * "verdict","sizes":[...]}, the verdict of kind `projection`. A new object; NULL with err
 * when a run is not like the first (ERROR_INVALID), or memory is out. */
json_t *projection_json(const struct compare_run *runs, size_t n, size_t nodes,
                        struct error *err);

#endif
