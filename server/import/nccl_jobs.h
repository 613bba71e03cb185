/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_jobs.h - assigns the processes in a log file to jobs */
#ifndef RINGBENCH_SERVER_IMPORT_NCCL_JOBS_H
#define RINGBENCH_SERVER_IMPORT_NCCL_JOBS_H

#include <jansson.h>
#include <stddef.h>

/* Find the jobs of processes. logs: each process's log from ncclog_json(), or null. Two
 * processes belong to one job if they share a communicator id, directly or through other
 * processes. Processes without a communicator belong to the others' job if there is only
 * one. Otherwise they form a separate job. job_of: room for the job number of each
 * process. Jobs are numbered in the order of the logs. Returns the number of jobs. */
size_t nccl_jobs_find(const json_t *logs, size_t *job_of);

#endif
