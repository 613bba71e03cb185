/* SPDX-License-Identifier: Apache-2.0 */
/* job_files.h - manages the files that a job shares with its nodes: the token of the
 * job's agents, the server's certificate and the job's output. Private to
 * server/launch. */
#ifndef RINGBENCH_SERVER_LAUNCH_JOB_FILES_H
#define RINGBENCH_SERVER_LAUNCH_JOB_FILES_H

#include <jansson.h>

#include "common/base/error.h"
#include "server/launch/job.h"

/* Generate the token and write the files. dir: the launcher's directory, or NULL. */
int job_files_write(struct job *job, const char *dir, struct error *err);

/* Rewrite the certificate after a change: agents that start later must trust the new
 * one. */
void job_files_renew(const struct job *job);

/* Read the token of a job that an earlier server started. Without the file, further
 * agents of the job cannot register. */
void job_files_read(struct job *job);

/* Set {token_file}, {ca_file} and {output} for the launcher's commands. */
void job_files_name(const struct job *job, json_t *values);

/* The job has ended: keep the end of its output and delete the files. */
void job_files_end(struct job *job);

#endif
