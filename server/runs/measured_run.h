/* SPDX-License-Identifier: Apache-2.0 */
/* measured_run.h - a run with what each of its cases has measured, out of the database */
#ifndef RINGBENCH_SERVER_RUNS_MEASURED_RUN_H
#define RINGBENCH_SERVER_RUNS_MEASURED_RUN_H

#include "server/analysis/compare_cases.h"
#include "server/store/store_work.h"

/* On a thread of the store (store_work.h): read the values, and the document too if it is
 * not there yet. -1 with err on failure. The caller releases the run in any case. */
int measured_run_read(sqlite3 *db, const char *id, struct compare_run *run,
                      struct error *err);
void measured_run_release(struct compare_run *run);

#endif
