/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - manages the jobs that this server requested from engines
 * (docs/reference/launchers.md). A job provides nodes for a run and its follow-ups. It is
 * started, queried, and stopped when no run needs it. Used on the loop's thread only. A
 * job is stored before it is started, so that a restarted server knows it. */
#ifndef RINGBENCH_SERVER_LAUNCH_JOBS_H
#define RINGBENCH_SERVER_LAUNCH_JOBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/base/problem.h"
#include "common/spec/run_spec.h"
#include "server/launch/launcher.h"

#define JOB_TEXT_MAX 1200

struct jobs;
struct store;

struct jobs_config {
    struct store *store; /* borrowed; outlives the jobs */
    /* for jobs' files, unless the launcher has its own directory */
    const char *job_dir;
    const char *launchers; /* directory of launchers; NULL: none */
    bool has_tokens;       /* the server requires tokens, so agents need one */
};

/* Read the launchers and the stored jobs. The loop is borrowed. */
struct jobs *jobs_create(uv_loop_t *loop, const struct jobs_config *config,
                         struct error *err);

/* Set the URL at which agents reach this server (copied). Call before the loop runs. */
void jobs_set_server(struct jobs *jobs, const char *url);

/* Set the server's certificate as PEM text (copied), which agents of later jobs trust;
 * NULL: none. */
void jobs_set_certificate(struct jobs *jobs, const char *pem);

/* Read the launchers again. On failure return -1 with the reason and keep the previous
 * launchers. */
int jobs_reload(struct jobs *jobs, struct error *err);

/* Leave the jobs running for the next server. Frees `jobs` on the loop; the store must
 * still be open then. */
void jobs_close(struct jobs *jobs);

/* Add the problems of the spec's `launch`, if it contains one. */
void jobs_check(const struct jobs *jobs, const struct run_spec *spec,
                struct problems *problems);

/* Check whether the user of a token (NULL: no name) may use a launcher (NULL: none).
 * Returns -1 with ERROR_DENIED if not. */
int jobs_allow(const struct jobs *jobs, const char *launcher, const char *who,
               struct error *err);

/* Set the node group in the spec of a new run. group: the group of the preceding run, or
 * NULL if there is none. If that run's job is still running, its group is used; otherwise
 * a new one. */
void jobs_assign(struct jobs *jobs, struct run_spec *spec, const char *group);

/* True if the group has a job that has not ended. */
bool jobs_has(const struct jobs *jobs, const char *group);

/* Return the state of the job of a run that has not begun; start a job if there is none.
 * *text (JOB_TEXT_MAX bytes) describes it. */
enum job_state jobs_need(struct jobs *jobs, const struct run_spec *spec, const char *run,
                         char *text);

/* Set the group's job to running, because all its nodes have registered. The engine may
 * not have reported this yet. */
void jobs_registered(struct jobs *jobs, const char *group);

/* Return the number of nodes that the run's job requests. */
long jobs_nodes(const struct run_spec *spec);

/* Keep the job of an ended run for two minutes, because a follow-up would have to use the
 * same nodes. */
void jobs_hold(struct jobs *jobs, const char *group);

/* Mark the group's job, if there is one, as needed by a run. */
void jobs_mark(struct jobs *jobs, const char *group);

/* Stop jobs that were not marked since the last call, except those that wait for a
 * follow-up. Forget ended jobs except the latest STORE_JOBS_ENDED_MAX. */
void jobs_release(struct jobs *jobs);

/* Query the state of the group's job. Returns true while the engine may still report the
 * job's end. Otherwise *text (JOB_TEXT_MAX bytes) describes the ended job, or is "". */
bool jobs_ask(struct jobs *jobs, const char *group, char *text);

/* Return the group that agents with this token may join, borrowed; NULL if the token
 * belongs to no job. */
const char *jobs_token_group(const struct jobs *jobs, const char *token);

/* Documents for the API (docs/reference/api.md); new references. jobs_get returns NULL if
 * there is no such job. */
json_t *jobs_launchers_json(const struct jobs *jobs);
json_t *jobs_json(const struct jobs *jobs);
json_t *jobs_get(const struct jobs *jobs, const char *id);

/* Stop a job, even if a run needs it. If the job is already stopping, stop it again, or
 * give it up if its engine cannot be reached. Errors: ERROR_NOT_FOUND; ERROR_CONFLICT:
 * the job has ended; ERROR_DENIED: see jobs_allow(). */
int jobs_stop(struct jobs *jobs, const char *id, const char *who, struct error *err);

#endif
