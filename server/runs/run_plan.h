/* SPDX-License-Identifier: Apache-2.0 */
/* run_plan.h - the cases of a run whose pattern is not `all`. They come in rounds
 * (server/plan/plan.h); a `plan` event starts each round and names its nodes. A run
 * without a pattern that is slower than its baseline gets one more round, which measures
 * it again. */
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

/* Whether the run's latest case is such a repeated measurement. */
bool run_plan_confirms(const struct run *run);

/* Return the slow nodes (server/analysis/culprit.h) for a pattern that searches for
 * them, as a new object, or NULL. */
json_t *run_plan_verdict(const struct run *run);

/* Return the expected total number of rows. ranks: the number of ranks on each of the n
 * nodes. */
size_t run_plan_rows(const struct run_spec *spec, const long *ranks, size_t n);

/* Return the expected number of cases; 0: unknown until the run has its nodes. */
size_t run_plan_cases(const struct run *run);

/* Return the number of rounds expected after the one under way. */
size_t run_plan_rounds_ahead(const struct run *run);

#endif
