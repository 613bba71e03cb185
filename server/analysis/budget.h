/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - estimates the communication time of a training step from a run's measured
 * times. The functions do no I/O; docs/explanation/method.md gives the formulas and their
 * sources. */
#ifndef RINGBENCH_SERVER_ANALYSIS_BUDGET_H
#define RINGBENCH_SERVER_ANALYSIS_BUDGET_H

#include <jansson.h>

#include "common/base/ids.h"
#include "common/spec/spec_field.h"
#include "server/analysis/compare_cases.h"

/* The body of POST /budget. */
struct budget {
    char run[ID_RUN_LENGTH + 1];
    double step_s; /* 0: not given */
    long ranks;    /* 0: the largest number of ranks in a case */
    double parameters, bucket_bytes;
    int dtype;
    long zero;
};

extern const struct spec_fields budget_fields;

/* Return a new object {"run","ranks","verdict","parts":[...]}. */
json_t *budget_json(const struct budget *budget, const struct compare_run *run);

#endif
