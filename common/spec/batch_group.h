/* SPDX-License-Identifier: Apache-2.0 */
/* batch_group.h - names of the node groups that batch jobs create, such as slurm-8123 */
#ifndef RINGBENCH_COMMON_SPEC_BATCH_GROUP_H
#define RINGBENCH_COMMON_SPEC_BATCH_GROUP_H

#include <stdbool.h>

/* Prefix for jobs that the server itself requested through a run's `launch`. */
#define JOB_GROUP_PREFIX "job-"

/* Return whether a group belongs to such a job; false for NULL. */
bool job_group(const char *group);

/* Return whether a group's nodes disappear with their batch job, whoever started it;
 * false for NULL. */
bool batch_group(const char *group);

#endif
