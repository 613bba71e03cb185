/* SPDX-License-Identifier: Apache-2.0 */
/* run_metrics.h - aggregates of the metrics that a program's ranks print */
#ifndef RINGBENCH_SERVER_RUNS_RUN_METRICS_H
#define RINGBENCH_SERVER_RUNS_RUN_METRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/median.h"

#define RUN_METRICS_MAX 64 /* names; figures of further ones are not summed up */

struct metric_sum {
    uint64_t count;
    double last, mean, min, max;
};

struct run_metric {
    char *name, *unit;
    bool higher_is_better;
    struct metric_sum all, rank0;
};

struct run_metrics {
    struct run_metric *items;
    size_t n, capacity;
    struct median first; /* over the values of the first item */
};

void run_metrics_release(struct run_metrics *metrics);

/* Add a value. about: has its "metric", "unit", "higher_is_better". */
void run_metrics_add(struct run_metrics *metrics, const json_t *about, double value,
                     int rank);

/* Return the headline of a run that measures no collectives: its first metric, since a
 * program prints its main metric first. A new reference. */
json_t *run_metrics_headline(const struct run_metrics *metrics);

/* Return a new array of
 * {"metric","unit","higher_is_better","count","last","mean","min","max", "rank0": {the
 * same five} or null}, in the order of first appearance. */
json_t *run_metrics_json(const struct run_metrics *metrics);

#endif
