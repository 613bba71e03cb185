/* SPDX-License-Identifier: Apache-2.0 */
/* run_set.h - reads several runs with the results of their cases */
#ifndef RINGBENCH_SERVER_API_RUN_SET_H
#define RINGBENCH_SERVER_API_RUN_SET_H

#include "common/base/ids.h"
#include "server/analysis/compare_cases.h"
#include "server/api/task.h"

#define RUN_SET_MAX 128

struct run_set {
    /* one character longer than a valid id, so that a longer id matches no run */
    char ids[RUN_SET_MAX][ID_RUN_LENGTH + 2];
    struct compare_run runs[RUN_SET_MAX];
    size_t n;
};

/* If the run has not ended, add its document to task->given. Call on the loop's thread
 * before task_run() with TASK_SETTLED_RUNS. */
void run_set_give(struct task *task, const char *id, size_t len);

/* Return the index of the run with this id. Add the run if the set does not contain it.
 * The set holds at most RUN_SET_MAX runs. */
size_t run_set_add(struct run_set *set, const char *id, size_t len);

/* Read all runs of the set. Call from a task's `work`. The caller releases the set even
 * after an error. */
int run_set_read(sqlite3 *db, const struct task *task, struct run_set *set,
                 struct error *err);
void run_set_release(struct run_set *set);

#endif
