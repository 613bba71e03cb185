/* jobs.h - jobs that this server asked an engine for, each with nodes for runs: started,
 * asked after, stopped when no run needs them any more (docs/launchers.md). All of it on
 * the loop's thread. Each is a file beside the database, so that a server that was
 * stopped knows its jobs, and no others. */
#ifndef RINGBENCH_SERVER_LAUNCH_JOBS_H
#define RINGBENCH_SERVER_LAUNCH_JOBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/base/problem.h"
#include "common/spec/run_spec.h"
#include "server/launch/launcher.h"

#define JOB_TEXT_MAX 700

struct jobs;

/* Who has the nodes. Called on the loop. */
struct jobs_nodes {
    /* Whether a run or a node of it needs the group. */
    bool (*is_needed)(void *arg, const char *group);
    /* How many nodes of it there are now, and how many were there and are not. */
    void (*count)(void *arg, const char *group, size_t *alive, size_t *gone);
    /* The most nodes, by jobs_nodes_wanted, that a run wants which waits for the group.
     */
    long (*wanted)(void *arg, const char *group);
    void *arg;
};

/* The sentence of a job that has ended, or NULL. */
typedef void jobs_told(void *arg, const char *sentence);

struct jobs_config {
    const char *dir;       /* for the jobs' files; made if it is not there */
    const char *launchers; /* the directory, or NULL: there are none */
    bool has_tokens;       /* the server asks for tokens, so agents need one */
};

/* Read both directories. The loop is borrowed. */
struct jobs *jobs_create(uv_loop_t *loop, const struct jobs_config *config,
                         struct error *err);

/* Before the loop runs. */
void jobs_set_nodes(struct jobs *jobs, const struct jobs_nodes *nodes);

/* URL by which agents reach this server (copied), before the loop runs. */
void jobs_set_server(struct jobs *jobs, const char *url);

/* Read the launchers again; -1 with the reason, and then those before stay. */
int jobs_reload(struct jobs *jobs, struct error *err);

/* Leave the jobs to themselves and to the next server. Frees it on the loop. */
void jobs_close(struct jobs *jobs);

/* How many nodes a run asks an engine for. */
long jobs_nodes_wanted(const struct run_spec *spec);

/* Add what is wrong with the spec's `launch` here; nothing if it has none. */
void jobs_check(const struct jobs *jobs, const struct run_spec *spec,
                struct problems *problems);

/* Whether a launcher (NULL: none is wanted) is for whom a token's name says (NULL: nobody
 * is known). -1 with ERROR_DENIED. */
int jobs_allow(const struct jobs *jobs, const char *launcher, const char *who,
               struct error *err);

/* Give the spec of a new run the group of nodes that it will use: that of a job which is
 * kept, is like the one it asks for and has its nodes, or one of its own. -1 when memory
 * is out. */
int jobs_assign(struct jobs *jobs, struct run_spec *spec);

/* The group that jobs_assign would give such a spec: that of a job which is kept; yours,
 * NULL where a new job is asked for. *text (JOB_TEXT_MAX bytes) says what it waits for,
 * "" once it runs. */
char *jobs_foresee(const struct jobs *jobs, const struct run_spec *spec, char *text);

/* Whether a job of the group is there that has not ended. */
bool jobs_has(const struct jobs *jobs, const char *group);

/* A run that has not begun needs its job, which is started if there is none of the group,
 * or if that was started for another run and has ended. Its state; *text
 * (JOB_TEXT_MAX bytes) says more. */
enum job_state jobs_need(struct jobs *jobs, const struct run_spec *spec, const char *run,
                         char *text);

/* Called now and then: stop the jobs whose group nobody needs. */
void jobs_tend(struct jobs *jobs);

/* Find out what became of the group's job, that which was there when a run began (wall
 * clock): another may have replaced it. `told` runs on the loop, after some seconds at
 * most, and at once where that can't be found out now. */
void jobs_ask(struct jobs *jobs, const char *group, int64_t began_ms, jobs_told *told,
              void *arg);

/* The group that agents with this token may join, borrowed; NULL: it is no job's. */
const char *jobs_token_group(const struct jobs *jobs, const char *token);

/* As docs/api.md shows them; new references, of one job NULL where there is none. */
json_t *jobs_launchers_json(const struct jobs *jobs);
json_t *jobs_json(const struct jobs *jobs);
json_t *jobs_get(const struct jobs *jobs, const char *id);

/* Stop it, whoever needs it: one that is being stopped is told so again, and one of which
 * the engine can't be told is given up. ERROR_NOT_FOUND; ERROR_CONFLICT: it has ended;
 * ERROR_DENIED, see jobs_allow. */
int jobs_stop(struct jobs *jobs, const char *id, const char *who, struct error *err);

#endif
