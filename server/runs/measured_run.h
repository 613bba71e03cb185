/* SPDX-License-Identifier: Apache-2.0 */
/* measured_run.h - reads a run with its cases' results from the database */
#ifndef RINGBENCH_SERVER_RUNS_MEASURED_RUN_H
#define RINGBENCH_SERVER_RUNS_MEASURED_RUN_H

#include "server/analysis/compare_cases.h"
#include "server/store/store_work.h"

/* Read the run's values, and its document unless run->doc is already set. Call this on a
 * store thread (store_work.h). Returns -1 with err on failure. The caller must release
 * the run in both cases. */
int measured_run_read(sqlite3 *db, const char *id, struct compare_run *run,
                      struct error *err);
void measured_run_release(struct compare_run *run);

#endif
