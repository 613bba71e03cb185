/* SPDX-License-Identifier: Apache-2.0 */
/* metric.h - finds figures in the output lines of a program */
#ifndef RINGBENCH_AGENT_CASE_METRIC_H
#define RINGBENCH_AGENT_CASE_METRIC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/problem.h"

#define METRICS_MAX 32
#define METRIC_LABELS_MAX 4

enum metric_stream { METRIC_STDOUT = 1, METRIC_STDERR = 2 };

struct metric {
    char *name, *unit;
    bool higher_is_better;
};

struct metric_set;

/* Read the array `metrics` of a program's file; NULL: no metrics. Adds errors to
 * *problems, with JSON pointers below `pointer`. */
struct metric_set *metric_set_parse(json_t *metrics, const char *pointer,
                                    struct problems *problems);
void metric_set_destroy(struct metric_set *set);

/* Returns a new array of {"name","unit","higher_is_better"}. */
json_t *metric_set_json(const struct metric_set *set);

/* Called for each figure. The value is not finite if the program printed "nan", "inf" or,
 * in JSON, null. `labels` is a borrowed object of scalars, or NULL. */
typedef void metric_fn(void *arg, const struct metric *metric, double value,
                       json_t *labels);

struct metric_handlers {
    metric_fn *on_figure;
    /* The metric's regular expression exceeded its limit of steps on the line. */
    void (*on_given_up)(void *arg, const struct metric *metric);
    void *arg;
};

/* The line has no newline. */
void metric_set_line(const struct metric_set *set, enum metric_stream stream,
                     const char *line, size_t len,
                     const struct metric_handlers *handlers);

#endif
