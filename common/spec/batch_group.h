/* SPDX-License-Identifier: Apache-2.0 */
/* batch_group.h - names of node groups that batch jobs make, such as slurm-8123 */
#ifndef RINGBENCH_COMMON_SPEC_BATCH_GROUP_H
#define RINGBENCH_COMMON_SPEC_BATCH_GROUP_H

#include <stdbool.h>

/* Of a job that the server itself asked an engine for, by `launch` of a run. */
#define JOB_GROUP_PREFIX "job-"

/* NULL is no group. */
bool job_group(const char *group);

/* Whether its nodes go with their job, whoever started it. NULL is no group. */
bool batch_group(const char *group);

#endif
