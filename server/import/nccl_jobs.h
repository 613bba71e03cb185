/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_jobs.h - which processes of one log file are of one job */
#ifndef RINGBENCH_SERVER_IMPORT_NCCL_JOBS_H
#define RINGBENCH_SERVER_IMPORT_NCCL_JOBS_H

#include <jansson.h>
#include <stddef.h>

/* logs: of processes, as ncclog_json() has them, or null. Those that share a communicator
 * by its id, or each with a third, are of one job; those that name none are of the only
 * one that others name, else of one of their own. job_of: a place for each, their jobs
 * numbered from 0 in the order of the logs. Returns how many there are.
 */
size_t nccl_jobs_find(const json_t *logs, size_t *job_of);

#endif
