/* projection.h - what a collective would take on more nodes than were measured: latency
 * and bandwidth fitted over node counts, with the error that the fit made on the largest
 * count when it had not seen it. Plain functions; docs/method.md has the terms. */
#ifndef RINGBENCH_SERVER_ANALYSIS_PROJECTION_H
#define RINGBENCH_SERVER_ANALYSIS_PROJECTION_H

#include <jansson.h>
#include <stddef.h>

#include "server/analysis/case_values.h"

#define PROJECTION_NODES_MIN 3  /* one node and two have links of their own */
#define PROJECTION_COUNTS_MIN 3 /* of such node counts */
#define PROJECTION_COUNTS_MAX 64
#define PROJECTION_FACTOR_MAX 8
#define PROJECTION_ERROR_MAX 0.1

/* A time of one size on so many nodes. */
struct projection_point {
    size_t nodes, ranks;
    double time_us;
};

enum projection_answer {
    PROJECTION_DONE,
    PROJECTION_FEW, /* node counts */
    PROJECTION_FAR, /* more than PROJECTION_FACTOR_MAX times the largest */
    PROJECTION_OFF  /* it would not have told the largest */
};

struct projection {
    enum projection_answer answer;
    size_t measure;   /* refused: the node count to measure first */
    const char *form; /* of the time: the terms that are in it; static */
    double time_us, low_us, high_us;
    double error; /* on the largest count, fitted to the others; as a part of it */
};

/* points: by rising nodes, each count once, those below PROJECTION_NODES_MIN are passed
 * over. */
void projection_make(const struct projection_point *points, size_t n, size_t nodes,
                     size_t ranks, struct projection *out);

/* Every size of every series of a run whose cases had several node counts:
 * {"run","nodes","ranks","verdict","sizes":[...]}, the verdict of kind `projection`. A
 * new object; NULL when memory is out. */
json_t *projection_json(const json_t *run, const struct case_values *values,
                        size_t nodes);

#endif
