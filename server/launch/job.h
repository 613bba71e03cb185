/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - manages one job of an engine: its state, and the commands that start, query and
 * stop the job. Private to server/launch. Members ending in `_ms` are wall-clock times,
 * for people and for later servers. Members ending in `_at` are times of the loop
 * (uv_now), for deadlines. */
#ifndef RINGBENCH_SERVER_LAUNCH_JOB_H
#define RINGBENCH_SERVER_LAUNCH_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "common/base/ids.h"
#include "common/base/memory.h"
#include "common/spec/batch_group.h"
#include "server/launch/engine_call.h"
#include "server/launch/jobs.h"
#include "server/launch/launcher.h"

#define uthash_fatal(text) memory_out("the jobs")
/* The default hash function falls through switch labels, which clang reports. */
#define HASH_FUNCTION HASH_FNV
#include <uthash.h>

#define JOB_TOKEN_SIZE (2 * ID_UUID_LENGTH + 1)
#define JOB_WORDS_MAX 200
#define JOB_REASON_MAX (2 * JOB_WORDS_MAX + 4)
#define JOB_OUTPUT_MAX 500

/* Phases until the start command runs. */
enum job_phase {
    JOB_QUEUED,  /* another job or command of the launcher must end first */
    JOB_STORING, /* the job is being stored */
    JOB_BEGUN    /* the start command has run, or may have run */
};

struct job {
    TAILQ_ENTRY(job) entry;
    UT_hash_handle hh; /* hash handle; the key is the id */
    struct jobs *jobs; /* NULL: closed while the job was being stored */
    char id[ID_RUN_LENGTH + 1];
    /* JOB_GROUP_PREFIX and the id */
    char group[sizeof(JOB_GROUP_PREFIX) + ID_RUN_LENGTH];
    char name[sizeof("ringbench-") + ID_RUN_LENGTH]; /* the job's name in the engine */
    char *launcher;
    char *run;    /* the run for which the job was started */
    json_t *args; /* complete with defaults */
    /* users who may stop the job if its launcher was removed; NULL: every operator */
    json_t *who;
    long nodes;
    /* token of the job's agents; "" if the server requires no tokens */
    char token[JOB_TOKEN_SIZE];
    char *files;                 /* path of the job's files without suffix; NULL: none */
    char output[JOB_OUTPUT_MAX]; /* last part of an ended job's output */
    char engine_id[128];         /* "" until known */
    enum job_phase phase;
    enum job_state state;
    char reason[JOB_WORDS_MAX];  /* the engine's message, or why the job is stopped */
    char trouble[JOB_WORDS_MAX]; /* why the engine cannot be queried; "" if it can */
    int64_t created_ms, started_ms, ended_ms;
    int64_t started_at;        /* started_ms in the loop's time */
    int64_t begun_at;          /* when the latest command began */
    int64_t may_come_until_at; /* time until which the start may still create the job */
    int64_t stopped_at;        /* when the engine accepted a stop; 0: not yet */
    /* time until which the job is kept for a follow-up run */
    int64_t held_until_at;
    int64_t awaited_until_at; /* time until which a caller waits for the job's state */
    int64_t due_at;           /* when the next command is due */
    bool is_needed;           /* marked by a run since the last jobs_release() */
    struct engine_call *call;
    enum launcher_command command; /* the current command, or the last one */
};

TAILQ_HEAD(job_list, job);

struct jobs {
    uv_loop_t *loop;
    uv_timer_t timer;
    struct store *store;
    char *job_dir, *launchers_dir, *server, *certificate;
    bool has_tokens;
    struct launcher_list launchers;
    struct engine_calls calls;
    struct job_list list; /* oldest first */
    struct job *by_id;
};

static inline int64_t job_now(const struct job *job)
{
    return (int64_t)uv_now(job->jobs->loop);
}

static inline bool job_is_alive(const struct job *job)
{
    return job->state != JOB_ENDED;
}

/* True if the job has ended, its end is stored, and neither a command nor a run still
 * needs it. */
static inline bool job_is_over(const struct job *job)
{
    return !job_is_alive(job) && job->phase != JOB_STORING && !job->call &&
           !job->is_needed;
}

/* ---- A job's state ---- */

/* Append a job to the list. args: stolen. */
struct job *job_create(struct jobs *jobs, const char *id, const char *launcher,
                       const char *run, json_t *args);

/* Append a stored job. Its start may have been interrupted. If the job has no id, search
 * for it by name for as long as a command may take. */
void job_restore(struct jobs *jobs, const json_t *doc);

/* Remove the job from the list. */
void job_take_out(struct job *job);

/* Free a job that is not in the list. */
void job_free(struct job *job);

/* Return the job's launcher; NULL if it was removed. */
struct launcher *job_launcher(const struct job *job);

/* Write "job 12 of slurm is pending: ..."; out has JOB_TEXT_MAX bytes. */
void job_sentence(const struct job *job, char *out);

/* Return the job's document for the API, a new reference. */
json_t *job_json(const struct job *job);

/* ---- A job's life cycle ---- */

/* Do the work that is due, except commands. Handle a removed launcher and the job's time
 * limit, and start the job when the launcher can run another one. */
void job_tick(struct job *job);

/* job_is_due() checks whether a command is due. The other functions return the next
 * command and run it. */
bool job_is_due(const struct job *job);
enum launcher_command job_next_command(const struct job *job);
void job_call(struct job *job, enum launcher_command command);

/* True if the launcher may run another command. Each job that is being stored before its
 * start counts as one command. */
bool job_has_turn(const struct job *job);

/* Mark the job as running once all its nodes have registered, whatever state the engine
 * last reported. */
void job_run(struct job *job);

/* Stop the job. A second call repeats the stop command immediately. If the engine cannot
 * be reached, a second call gives up on the job, which may still run. */
void job_stop(struct job *job, const char *reason);

#endif
