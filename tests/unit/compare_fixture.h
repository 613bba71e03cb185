/* SPDX-License-Identifier: Apache-2.0 */
/* compare_fixture.h - cases whose values a test makes up */
#ifndef RINGBENCH_TESTS_UNIT_COMPARE_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_COMPARE_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "server/analysis/case_values.h"

#define CASES_MAX 64

/* A case per number, with one series each time a test adds one. */
struct made {
    struct case_values values;
    struct case_series series[CASES_MAX * 8];
};

static inline void made_init(struct made *made)
{
    memset(made, 0, sizeof(*made));
    made->values.series = made->series;
}

/* Cases and the series of each must come in their order. figure: of a metric. */
static inline void made_add(struct made *made, int case_no, const char *key,
                            const struct case_point *points, size_t n)
{
    struct case_series *series = &made->series[made->values.n++];

    series->case_no = case_no;
    series->key = json_loads(key, 0, NULL);
    series->is_figure = json_object_get(series->key, "metric") != NULL;
    series->identity = strdup(key);
    series->points = malloc(n * sizeof(*points));
    memcpy(series->points, points, n * sizeof(*points));
    series->n_points = n;
}

static inline void made_release(struct made *made)
{
    for (size_t i = 0; i < made->values.n; i++) {
        json_decref(made->series[i].key);
        free(made->series[i].identity);
        free(made->series[i].points);
    }
}

#endif
