/* run_eta.h - when a run under way is likely to end */
#ifndef RINGBENCH_SERVER_RUNS_RUN_ETA_H
#define RINGBENCH_SERVER_RUNS_RUN_ETA_H

#include "server/runs/run.h"

/* Add eta_s and eta_basis (docs/api.md) to the run's document (may be NULL), which is
 * returned. Those of a run that has ended are left out. */
json_t *run_eta_add(const struct run *run, int64_t now_ms, json_t *doc);

#endif
