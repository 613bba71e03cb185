/* projection.h - the time of a collective on more nodes than were measured, with its 95 %
 * interval. Plain functions; docs/explanation/method.md has the model and its sources. */
#ifndef RINGBENCH_SERVER_ANALYSIS_PROJECTION_H
#define RINGBENCH_SERVER_ANALYSIS_PROJECTION_H

#include <jansson.h>
#include <stddef.h>

#include "common/spec/collective.h"
#include "server/analysis/compare_cases.h"
#include "server/finding/messages.h"

#define PROJECTION_NODES_MIN 3  /* one node and two have links of their own */
#define PROJECTION_COUNTS_MIN 4 /* of such node counts */
#define PROJECTION_SIZES_MIN 3
#define PROJECTION_SIZE_PART                                                             \
    0.25 /* down to this part of it the fit uses sizes anyway                            \
          */
#define PROJECTION_FACTOR_MAX 8
#define PROJECTION_NOISE_MIN 0.01 /* of a time, even if the fit leaves less */
#define PROJECTION_WIDTH_MAX 2    /* the interval's end divided by its begin */

/* The time of one size on one node count. */
struct projection_point {
    size_t nodes, ranks;
    int64_t size;
    double time_us, low_us, high_us; /* the median and the extremes of cases */
    size_t cases;                    /* 0: projected */
};

struct projection_question {
    enum collective_kind kind;
    const struct projection_point *points; /* of all sizes, by rising node count */
    size_t n_points;                       /* at least 1 */
    const json_t *key;                     /* of their series */
    int64_t size;
    size_t nodes, ranks; /* asked about */
};

struct projection {
    enum message_id message;    /* MESSAGE_PROJECTED, or why it is refused */
    struct projection_point at; /* on the count asked about; of PROJECTED and WIDE */
    double size_from, size_to;  /* the sizes that the fit uses */
    size_t n_counts, n_sizes, n_rows; /* that it has */
    double noise;                     /* the part of a time that it leaves */
    size_t measure;                   /* if refused: the node count to measure first */
};

void projection_make(const struct projection_question *question, struct projection *out);

/* Every size of every series of a run on several node counts, of the completed cases with
 * the first one's variables: {"run","nodes","ranks","verdict","sizes":[...]}, the verdict
 * of kind `projection`. A new object. */
json_t *projection_json(const struct compare_run *run, size_t nodes);

#endif
