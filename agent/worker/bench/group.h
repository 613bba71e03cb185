/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - the ranks with which a rank forms its communicator */
#ifndef RINGBENCH_WORKER_BENCH_GROUP_H
#define RINGBENCH_WORKER_BENCH_GROUP_H

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"

/* Fill in the group members of env from the case and env->rank. *members: an array that
 * env borrows; free it after the communicator. NULL if all ranks form one group. */
void group_find(const struct case_file *file, struct backend_env *env, int **members);

#endif
