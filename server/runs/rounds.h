/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h - a placed run's cases: which of them start now, and when none is left. Those
 * of one round go side by side, on nodes of their own; without a pattern each case is a
 * round. */
#ifndef RINGBENCH_SERVER_RUNS_ROUNDS_H
#define RINGBENCH_SERVER_RUNS_ROUNDS_H

#include <stdint.h>

#include "server/runs/run.h"

struct active_run;

/* Once a tick, for a run that has its nodes. */
void rounds_tick(struct active_run *active, int64_t now_ns);

/* The cases that have not ended end as `state`. */
void rounds_skip(struct active_run *active, enum case_state state, const char *reason);

#endif
