/* gate_check.h - one check of a run: what gate.c's files share */
#ifndef RINGBENCH_SERVER_ANALYSIS_GATE_CHECK_H
#define RINGBENCH_SERVER_ANALYSIS_GATE_CHECK_H

#include "common/spec/threshold.h"
#include "server/analysis/gate.h"
#include "server/finding/verdict.h"

#define GATE_SENTENCE_MAX 2000
#define GATE_TEXT_MAX 200

/* What a check came to. */
struct gate_check {
    enum verdict_answer answer;
    char sentence[GATE_SENTENCE_MAX];
    json_t *evidence; /* object: further members of the check; or NULL */
    bool wants_again; /* it cannot fail before all cases are measured again */
};

/* Neither pass nor fail, for the reason. */
void gate_not_evaluated(struct gate_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "the run failed", "the run was cancelled" */
void gate_not_completed(struct gate_check *check, const struct gate_run *run);

/* Of figures of rows, and of a metric; with a summary. */
void gate_check_rows(const struct gate_run *run, const struct threshold *threshold,
                     struct gate_check *check);
void gate_check_metric(const struct gate_run *run, const struct threshold *threshold,
                       struct gate_check *check);

/* How the run compares with its baseline. */
void gate_check_baseline(const struct gate_run *run, struct gate_check *check);

/* Whether the value keeps the bounds; how far it is within them as a share of the nearer
 * bound, below 0 outside. A value that is no number is outside. */
bool gate_is_within(const struct threshold *threshold, double value);
double gate_room(const struct threshold *threshold, double value);

/* The threshold's figure, bounds and the value, to be put into a check's evidence. A new
 * object. */
json_t *gate_evidence(const struct threshold *threshold, double value);

/* The part of a gate_say() template that gives the bounds, such as "at least 40 GB/s" or
 * "exactly 8". Its values need a "unit". */
#define GATE_BOUNDS                                                                      \
    "[{is_exact?}exactly {min}[{unit}]|from {min} to {max}[{unit}]|"                     \
    "at least {min}[{unit}]|at most {max}[{unit}]]"

/* Make the sentence of a template (template.h), whose members are the check's evidence
 * and the words, which are taken. threshold: or NULL. */
void gate_say(struct gate_check *check, const struct threshold *threshold,
              const char *text, json_t *words);

#endif
