/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - one job of an engine: its state, and the commands that start, query and stop
 * it. Private to server/launch. Times in `_ms` are of the wall clock, for people and the
 * next server; those in `_at` are the loop's (uv_now), by which things are due. */
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
/* The default one falls through switch labels, which clang reports. */
#define HASH_FUNCTION HASH_FNV
#include <uthash.h>

#define JOB_TOKEN_SIZE (2 * ID_UUID_LENGTH + 1)
#define JOB_WORDS_MAX 200
#define JOB_REASON_MAX (2 * JOB_WORDS_MAX + 4)
#define JOB_OUTPUT_MAX 500

/* Until its start command runs. */
enum job_phase {
    JOB_QUEUED,  /* another job or command of the launcher has to end first */
    JOB_STORING, /* its start command waits for the store to have it */
    JOB_BEGUN    /* its start command has run, or may have */
};

struct job {
    TAILQ_ENTRY(job) entry;
    UT_hash_handle hh; /* by its id */
    struct jobs *jobs; /* NULL: they were closed while the store takes it */
    char id[ID_RUN_LENGTH + 1];
    char group[sizeof(JOB_GROUP_PREFIX) + ID_RUN_LENGTH]; /* the prefix and the id */
    char name[sizeof("ringbench-") + ID_RUN_LENGTH]; /* by which the engine knows it */
    char *launcher;
    char *run;    /* that it was started for */
    json_t *args; /* complete */
    json_t *who;  /* may stop it where its launcher is gone; NULL: every operator */
    long nodes;
    char token[JOB_TOKEN_SIZE];  /* of its agents, "" where the server asks for none */
    char *files;                 /* path of its files but for a suffix; NULL: none */
    char output[JOB_OUTPUT_MAX]; /* the end of what an ended job wrote */
    char engine_id[128];         /* "" while it is not known */
    enum job_phase phase;
    enum job_state state;
    char reason[JOB_WORDS_MAX];  /* the engine's own, or why it is stopped */
    char trouble[JOB_WORDS_MAX]; /* why the engine can't be asked; "": it can */
    int64_t created_ms, started_ms, ended_ms;
    int64_t started_at;        /* the same as started_ms */
    int64_t begun_at;          /* the latest command was begun */
    int64_t may_come_until_at; /* its start may still have an effect */
    int64_t stopped_at;        /* the engine accepted its stop; 0: it has not */
    int64_t held_until_at;     /* it waits for a follow-up of its run */
    int64_t awaited_until_at;  /* somebody waits for its state */
    int64_t due_at;            /* the next command */
    bool is_needed;            /* by some run, since the last jobs_release */
    struct engine_call *call;
    enum launcher_command command; /* of the call, or the last one */
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
    struct job_list list; /* the oldest first */
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

/* Nobody waits for anything of it. */
static inline bool job_is_over(const struct job *job)
{
    return !job_is_alive(job) && job->phase != JOB_STORING && !job->call &&
           !job->is_needed;
}

/* ---- What is known of it ---- */

/* At the end of the list. args: stolen. */
struct job *job_create(struct jobs *jobs, const char *id, const char *launcher,
                       const char *run, json_t *args);

/* One as it was last stored. Its start may have been under way: without an id it is
 * looked for by its name for as long as a command may take. */
void job_restore(struct jobs *jobs, const json_t *doc);

/* Take it out of the list. */
void job_take_out(struct job *job);

/* One that is in no list any more. */
void job_free(struct job *job);

/* NULL if the server no longer has that launcher. */
struct launcher *job_launcher(const struct job *job);

/* "job 12 of slurm is pending: ..."; out has JOB_TEXT_MAX bytes. */
void job_sentence(const struct job *job, char *out);

/* As the API shows it. A new reference. */
json_t *job_json(const struct job *job);

/* ---- Its life ---- */

/* What is due but commands: its launcher is gone, its hours are over, or its turn has
 * come. */
void job_tick(struct job *job);

/* Whether a command is due, which one, and to run it. */
bool job_is_due(const struct job *job);
enum launcher_command job_next_command(const struct job *job);
void job_call(struct job *job, enum launcher_command command);

/* Whether one more command of its launcher may run: each start that waits for the store
 * counts as one. */
bool job_has_turn(const struct job *job);

/* All its nodes have registered, whatever the engine last said. */
void job_run(struct job *job);

/* A second time it is stopped again at once, or given up if the engine can't be told. */
void job_stop(struct job *job, const char *reason);

#endif
