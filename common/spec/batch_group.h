/* SPDX-License-Identifier: Apache-2.0 */
/* batch_group.h - recognizes the names of node groups that batch jobs create, such as
 * slurm-8123 */
#ifndef RINGBENCH_COMMON_SPEC_BATCH_GROUP_H
#define RINGBENCH_COMMON_SPEC_BATCH_GROUP_H

#include <stdbool.h>

/* Prefix for jobs that the server itself requested through a run's `launch`. */
#define JOB_GROUP_PREFIX "job-"

/* Return true if a group belongs to a job that the server requested; false for NULL. */
bool job_group(const char *group);

/* Return true if a group's nodes disappear with their batch job, regardless of who
 * started the job; false for NULL. */
bool batch_group(const char *group);

#endif
