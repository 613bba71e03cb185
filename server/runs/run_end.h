/* SPDX-License-Identifier: Apache-2.0 */
/* run_end.h - the end of a run: its checks are judged, then it is told */
#ifndef RINGBENCH_SERVER_RUNS_RUN_END_H
#define RINGBENCH_SERVER_RUNS_RUN_END_H

#include "server/runs/run.h"

struct active_run;

/* No case of the run is under way and none will be: end it as `state` (a final one), for
 * the reason (may be NULL). Where its spec asks for checks that need its results, its end
 * is told when these are on disk, read and judged; until then the run is over
 * (active_run_is_over), but has not ended. */
void run_end(struct active_run *active, enum run_state state, const char *reason);

/* A failed run of which the job is asked why (asks_until_ns): end it once that is known,
 * or when it took too long. */
void run_end_tick(struct active_run *active, int64_t now_ns);

#endif
