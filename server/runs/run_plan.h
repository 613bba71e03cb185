/* SPDX-License-Identifier: Apache-2.0 */
/* run_plan.h - plans the cases of a run with a pattern other than `all`. Cases form
 * rounds (server/plan/plan.h); a `plan` event starts each round and lists its nodes. A
 * run without a pattern that is slower than its baseline gets one extra round, which
 * measures all cases again. */
#ifndef RINGBENCH_SERVER_RUNS_RUN_PLAN_H
#define RINGBENCH_SERVER_RUNS_RUN_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/runs/run.h"

/* Apply a `plan` event: its cases become the run's next cases. */
void run_plan_take(struct run *run, const json_t *body);

/* Return the body of the `plan` event for the next round once all cases have ended, or
 * NULL if no round follows. is_lost: one entry for each node of the run. A new
 * reference. */
json_t *run_plan_next(const struct run *run, const bool *is_lost);

/* Return the body of the event that repeats all cases of a run without a pattern. A new
 * reference. */
json_t *run_plan_again(const struct run *run);

/* Return true if the run's latest case repeats an earlier measurement. */
bool run_plan_confirms(const struct run *run);

/* Return the verdict on slow nodes (server/analysis/culprit.h) as a new object; NULL for
 * a pattern that does not search for them. */
json_t *run_plan_verdict(const struct run *run);

/* Return the expected total number of rows. ranks: number of ranks on each of the n
 * nodes. */
size_t run_plan_rows(const struct run_spec *spec, const long *ranks, size_t n);

/* Return the expected number of cases; 0 until the run has its nodes. */
size_t run_plan_cases(const struct run *run);

/* Return how many rounds are expected after the current round. */
size_t run_plan_rounds_ahead(const struct run *run);

#endif
