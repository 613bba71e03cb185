/* history.h - what the latest completed runs took, to say what the next one may take */
#ifndef RINGBENCH_SERVER_RUNS_HISTORY_H
#define RINGBENCH_SERVER_RUNS_HISTORY_H

#include <jansson.h>

#include "common/spec/run_spec.h"
#include "common/spec/series.h"

#define HISTORY_RUNS 32

struct history;

struct history *history_create(void);
void history_destroy(struct history *history);

/* Take in a completed run's document (docs/api.md); others are left alone. */
void history_add(struct history *history, const json_t *run);

/* What is to be estimated. */
struct history_question {
    const struct run_spec *spec;
    const struct series_plan *plan; /* of a case's rows; NULL: a program */
    size_t n_cases;
    const char *backend;
    int world_size;
    const json_t *nodes; /* as in the run's document */
};

/* "time" of docs/api.md, Validation; a new reference. */
json_t *history_estimate(const struct history *history,
                         const struct history_question *question);

#endif
