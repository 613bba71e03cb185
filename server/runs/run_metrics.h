/* SPDX-License-Identifier: Apache-2.0 */
/* run_metrics.h - aggregates the metrics that a program's ranks print */
#ifndef RINGBENCH_SERVER_RUNS_RUN_METRICS_H
#define RINGBENCH_SERVER_RUNS_RUN_METRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/median.h"

/* maximum number of names; further metrics are not aggregated */
#define RUN_METRICS_MAX 64

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
    struct median first; /* median of the first item's values */
};

void run_metrics_release(struct run_metrics *metrics);

/* Add a value. about: an object with "metric", "unit" and "higher_is_better". */
void run_metrics_add(struct run_metrics *metrics, const json_t *about, double value,
                     int rank);

/* Return the headline of a program's run as a new reference: its first metric, since a
 * program prints its main metric first. */
json_t *run_metrics_headline(const struct run_metrics *metrics);

/* Return a new array of
 * {"metric","unit","higher_is_better","count","last","mean","min","max", "rank0": {the
 * same five} or null}, in the order of first appearance. */
json_t *run_metrics_json(const struct run_metrics *metrics);

#endif
