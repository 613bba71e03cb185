/* SPDX-License-Identifier: Apache-2.0 */
/* run_end.h - the end of a run: its checks are judged, then its end is published */
#ifndef RINGBENCH_SERVER_RUNS_RUN_END_H
#define RINGBENCH_SERVER_RUNS_RUN_END_H

#include "server/runs/run.h"

struct active_run;

/* End a run as `state` (a final one) for the reason (may be NULL), when no case is under
 * way or will be. If its spec has checks that need results, the end is published after
 * the results are on disk and judged. Until then the run is over (active_run_is_over),
 * but has not ended. */
void run_end(struct active_run *active, enum run_state state, const char *reason);

/* End a failed run whose job was asked for the reason (asks_until_ns), once the job has
 * answered or the deadline has passed. */
void run_end_tick(struct active_run *active, int64_t now_ns);

#endif
