/* SPDX-License-Identifier: Apache-2.0 */
/* run_end.h - ends a run: judges its checks, then publishes its end */
#ifndef RINGBENCH_SERVER_RUNS_RUN_END_H
#define RINGBENCH_SERVER_RUNS_RUN_END_H

#include "server/runs/run.h"

struct active_run;

/* End a run in the final state `state` for `reason` (may be NULL). No case may be under
 * way or queued. If the spec's checks need results, the end is published after the
 * results are on disk and judged. Until then the run is over (active_run_is_over), but
 * has not ended. */
void run_end(struct active_run *active, enum run_state state, const char *reason);

/* End a failed run once its batch job has reported a reason or the deadline
 * (asks_until_ns) has passed. */
void run_end_tick(struct active_run *active, int64_t now_ns);

#endif
