/* budget.h - what the communication of a training step would take by a run's measured
 * curve. Plain functions; docs/explanation/method.md has the formulas and their sources.
 */
#ifndef RINGBENCH_SERVER_ANALYSIS_BUDGET_H
#define RINGBENCH_SERVER_ANALYSIS_BUDGET_H

#include <jansson.h>

#include "common/base/ids.h"
#include "common/spec/spec_field.h"
#include "server/analysis/compare_cases.h"

/* A question, as POST /budget has it. */
struct budget {
    char run[ID_RUN_LENGTH + 1];
    double step_s; /* 0: not given */
    long ranks;    /* 0: the most that a case had */
    double parameters, bucket_bytes;
    int dtype;
    long zero;
};

/* The fields of such a question. */
extern const struct spec_fields budget_fields;

/* {"run","ranks","verdict","parts":[...]}; a new object. */
json_t *budget_json(const struct budget *budget, const struct compare_run *run);

#endif
