/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - find the ranks that share a communicator with this rank */
#ifndef RINGBENCH_WORKER_BENCH_GROUP_H
#define RINGBENCH_WORKER_BENCH_GROUP_H

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"

/* Fill in the fields of env that describe the group, from the case and env->rank.
 * *members is an array that env borrows, or NULL if all ranks form one group. Free it
 * after the communicator. */
void group_find(const struct case_file *file, struct backend_env *env, int **members);

#endif
