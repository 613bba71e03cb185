/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h - starts the cases of a placed run in rounds, and ends the run after the last.
 * Cases of one round run in parallel on separate nodes; without a pattern each case is a
 * round. */
#ifndef RINGBENCH_SERVER_RUNS_ROUNDS_H
#define RINGBENCH_SERVER_RUNS_ROUNDS_H

#include <stdint.h>

#include "server/runs/run.h"

struct active_run;

/* Start the cases that can start, plan the next round, or end the run. Call this once per
 * tick for a run that has its nodes. */
void rounds_tick(struct active_run *active, int64_t now_ns);

/* End all unfinished cases, with `state` as their final state. */
void rounds_skip(struct active_run *active, enum case_state state, const char *reason);

#endif
