/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - the jobs that this server asked engines for, each with nodes for a run and
 * what follows from it: started, queried, and stopped when no run needs them
 * (docs/reference/launchers.md). All of it on the loop's thread. A job is stored before
 * it is started, so that the next server knows it. */
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
    struct store *store;   /* borrowed; it outlives the jobs */
    const char *job_dir;   /* of the jobs' files, unless the launcher has its own */
    const char *launchers; /* the directory, or NULL: there are none */
    bool has_tokens;       /* the server asks for tokens, so agents need one */
};

/* Read the launchers and the stored jobs. The loop is borrowed. */
struct jobs *jobs_create(uv_loop_t *loop, const struct jobs_config *config,
                         struct error *err);

/* URL by which agents reach this server (copied), before the loop runs. */
void jobs_set_server(struct jobs *jobs, const char *url);

/* The server's certificate as PEM text (copied), by which agents of later jobs know it;
 * NULL: it has none. */
void jobs_set_certificate(struct jobs *jobs, const char *pem);

/* Read the launchers again; -1 with the reason, and then those before stay. */
int jobs_reload(struct jobs *jobs, struct error *err);

/* Leave the jobs to themselves and to the next server. Frees it on the loop, before the
 * store has closed. */
void jobs_close(struct jobs *jobs);

/* Add what is wrong with the spec's `launch` here; nothing if it has none. */
void jobs_check(const struct jobs *jobs, const struct run_spec *spec,
                struct problems *problems);

/* Whether a token's name (NULL: it has none) may use a launcher (NULL: none is wanted).
 * -1 with ERROR_DENIED. */
int jobs_allow(const struct jobs *jobs, const char *launcher, const char *who,
               struct error *err);

/* Give the spec of a new run the group of its nodes: one of its own, or `group`, that of
 * the run which it follows, while the job of that run is there (NULL: it follows none).
 */
void jobs_assign(struct jobs *jobs, struct run_spec *spec, const char *group);

/* Whether a job of the group is there that has not ended. */
bool jobs_has(const struct jobs *jobs, const char *group);

/* A run that has not begun needs its job, which is started if there is none. Its state;
 * *text (JOB_TEXT_MAX bytes) says more. */
enum job_state jobs_need(struct jobs *jobs, const struct run_spec *spec, const char *run,
                         char *text);

/* All nodes of the group's job have registered: it runs, though the engine has yet to say
 * so. */
void jobs_registered(struct jobs *jobs, const char *group);

/* How many nodes the run's job was started with. */
long jobs_nodes(const struct run_spec *spec);

/* The run has ended, and a follow-up of it would have to measure the same nodes: its job
 * stays for two minutes, unless it has ended. */
void jobs_hold(struct jobs *jobs, const char *group);

/* Some run needs the group's job, if it is one's. */
void jobs_mark(struct jobs *jobs, const char *group);

/* Stop those that nobody marked since the last such call, but for those that wait for a
 * follow-up. Of those that have ended, forget all but the latest STORE_JOBS_ENDED_MAX. */
void jobs_release(struct jobs *jobs);

/* Ask what became of the group's job: true while the engine may answer yet that it has
 * ended. Else *text (JOB_TEXT_MAX bytes) is the sentence of a job that has ended, or "".
 */
bool jobs_ask(struct jobs *jobs, const char *group, char *text);

/* The group that agents with this token may join, borrowed; NULL: it is no job's. */
const char *jobs_token_group(const struct jobs *jobs, const char *token);

/* As docs/reference/api.md shows them; new references, of one job NULL where there is
 * none. */
json_t *jobs_launchers_json(const struct jobs *jobs);
json_t *jobs_json(const struct jobs *jobs);
json_t *jobs_get(const struct jobs *jobs, const char *id);

/* Stop it, whoever needs it: one that is being stopped is told so again, and one of which
 * the engine can't be told is given up. ERROR_NOT_FOUND; ERROR_CONFLICT: it has ended;
 * ERROR_DENIED, see jobs_allow. */
int jobs_stop(struct jobs *jobs, const char *id, const char *who, struct error *err);

#endif
