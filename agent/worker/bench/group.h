/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - whom a rank forms its communicator with */
#ifndef RINGBENCH_WORKER_BENCH_GROUP_H
#define RINGBENCH_WORKER_BENCH_GROUP_H

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"

/* Fill in what env says of groups, from the case and env->rank. *members: an array that
 * env borrows, to be freed after the communicator; NULL where all ranks form one. */
void group_find(const struct case_file *file, struct backend_env *env, int **members);

#endif
