/* budget.h - what the communication of a training step would take by a run's measured
 * curve. Plain functions; docs/method.md has the formulas and their sources. */
#ifndef RINGBENCH_SERVER_ANALYSIS_BUDGET_H
#define RINGBENCH_SERVER_ANALYSIS_BUDGET_H

#include <jansson.h>

#include "common/base/problem.h"
#include "server/analysis/compare_cases.h"

#define BUDGET_PARTS_MAX 16

/* So many bytes of a collective in a step, in so many calls. */
struct budget_part {
    int collective; /* enum collective_kind */
    double bytes;   /* of all calls, as a row's size counts them */
    double calls;
};

struct budget {
    struct budget_part parts[BUDGET_PARTS_MAX];
    size_t n;
    double step_s; /* 0: not given */
    long ranks;    /* 0: the most that a case had */
};

/* A request's body: {"run", "step_s", "ranks"} and {"collectives":
 * [{"collective","bytes", "calls"}]} or {"parameters","dtype","zero","bucket_bytes"}. -1
 * with problems. */
int budget_read(const json_t *body, struct budget *budget, struct problems *problems);

/* {"run","ranks","verdict","parts":[...]}; a new object, NULL when memory is out. */
json_t *budget_json(const struct budget *budget, const struct compare_run *run);

#endif
