/* SPDX-License-Identifier: Apache-2.0 */
/* run_plan.h - the cases of a run whose pattern is not `all`: they come round by round
 * (server/plan/plan.h), and each round by an event `plan`, which says on which nodes. A
 * run without a pattern that is slower than its baseline is measured again by one more */
#ifndef RINGBENCH_SERVER_RUNS_RUN_PLAN_H
#define RINGBENCH_SERVER_RUNS_RUN_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/runs/run.h"

/* Take the event: its cases are the run's next. */
void run_plan_take(struct run *run, const json_t *body);

/* The body of the event for the next round, when all cases have ended; is_lost: of each
 * of the run's nodes. NULL: there is none. A new reference. */
json_t *run_plan_next(const struct run *run, const bool *is_lost);

/* The body of the event that has all cases of a run without a pattern measured once
 * more. A new reference. */
json_t *run_plan_again(const struct run *run);

/* Whether that was asked for. */
bool run_plan_confirms(const struct run *run);

/* Who is slow (server/analysis/culprit.h), of a pattern that seeks it. A new object, or
 * NULL. */
json_t *run_plan_verdict(const struct run *run);

/* What a run over nodes with so many ranks each is expected to have of all its rows. */
size_t run_plan_rows(const struct run_spec *spec, const long *ranks, size_t n);

/* The cases that it is expected to have; 0: nobody knows before it has its nodes. */
size_t run_plan_cases(const struct run *run);

/* Rounds that are expected to follow the one under way. */
size_t run_plan_rounds_ahead(const struct run *run);

#endif
