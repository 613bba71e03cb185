/* SPDX-License-Identifier: Apache-2.0 */
/* gate_check.h - provides helpers for the checks of a run, shared by the gate_*.c files
 */
#ifndef RINGBENCH_SERVER_ANALYSIS_GATE_CHECK_H
#define RINGBENCH_SERVER_ANALYSIS_GATE_CHECK_H

#include "common/spec/threshold.h"
#include "server/analysis/gate.h"
#include "server/finding/verdict.h"

#define GATE_SENTENCE_MAX 2000
#define GATE_TEXT_MAX 200

/* The result of a check. */
struct gate_check {
    enum verdict_answer answer;
    char sentence[GATE_SENTENCE_MAX];
    json_t *evidence; /* object with further members of the check, or NULL */
    bool wants_again; /* the check can fail only after all cases are measured again */
};

/* Set the answer "not evaluated" and the reason. */
void gate_not_evaluated(struct gate_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Set the answer "not evaluated" with the reason "the run failed" or "the run was
 * cancelled". */
void gate_not_completed(struct gate_check *check, const struct gate_run *run);

/* Check a threshold on the figures of rows, or on a metric. Both functions need a
 * summary. */
void gate_check_rows(const struct gate_run *run, const struct threshold *threshold,
                     struct gate_check *check);
void gate_check_metric(const struct gate_run *run, const struct threshold *threshold,
                       struct gate_check *check);

/* Check the comparison with the baseline. */
void gate_check_baseline(const struct gate_run *run, struct gate_check *check);

/* gate_is_within() returns true if a value satisfies the bounds; NaN does not.
 * gate_room() returns the distance to the nearer bound as a fraction of that bound. The
 * distance is negative outside the bounds. */
bool gate_is_within(const struct threshold *threshold, double value);
double gate_room(const struct threshold *threshold, double value);

/* Return a new object for a check's evidence: the threshold's figure and bounds, and the
 * value. */
json_t *gate_evidence(const struct threshold *threshold, double value);

/* The part of a gate_say() template for the bounds, such as "at least 40 GB/s" or
 * "exactly 8". The member "unit" is the unit of the bounds. */
#define GATE_BOUNDS                                                                      \
    "[{is_exact?}exactly {min}[{unit}]|from {min} to {max}[{unit}]|"                     \
    "at least {min}[{unit}]|at most {max}[{unit}]]"

/* Render the check's sentence from a template (template.h) with the check's evidence and
 * `words`. Takes the reference to `words`. threshold: may be NULL. */
void gate_say(struct gate_check *check, const struct threshold *threshold,
              const char *text, json_t *words);

#endif
