/* SPDX-License-Identifier: Apache-2.0 */
/* run_set.h - several runs with the results of their cases */
#ifndef RINGBENCH_SERVER_API_RUN_SET_H
#define RINGBENCH_SERVER_API_RUN_SET_H

#include "common/base/ids.h"
#include "server/analysis/compare_cases.h"
#include "server/api/task.h"

#define RUN_SET_MAX 128

struct run_set {
    char ids[RUN_SET_MAX][ID_RUN_LENGTH + 2]; /* a longer id belongs to no run */
    struct compare_run runs[RUN_SET_MAX];
    size_t n;
};

/* On the loop: give the task the run's document, if the run has not ended. For
 * TASK_SETTLED_RUNS. */
void run_set_give(struct task *task, const char *id, size_t len);

/* The index of the run with this id; added if it is not in the set. There is room for
 * RUN_SET_MAX. */
size_t run_set_add(struct run_set *set, const char *id, size_t len);

/* In a task's work: read all runs. The caller releases the set in any case. */
int run_set_read(sqlite3 *db, const struct task *task, struct run_set *set,
                 struct error *err);
void run_set_release(struct run_set *set);

#endif
