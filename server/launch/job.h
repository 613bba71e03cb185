/* job.h - one job of an engine: what is known of it, its files, and what the engine is
 * asked of it. Private to server/launch. Times in `_ms` are of the wall clock, for people
 * and the next server; those in `_at` are the loop's (uv_now, since the machine's start),
 * by which things are due.
 */
#ifndef RINGBENCH_SERVER_LAUNCH_JOB_H
#define RINGBENCH_SERVER_LAUNCH_JOB_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/base/ids.h"
#include "common/spec/batch_group.h"
#include "server/launch/engine_call.h"
#include "server/launch/jobs.h"
#include "server/launch/launcher.h"

#define JOB_TOKEN_SIZE (2 * ID_UUID_LENGTH + 1)
#define JOB_WORDS_MAX 200

struct job {
    TAILQ_ENTRY(job) entry;
    struct jobs *jobs;
    char id[ID_RUN_LENGTH + 1];
    char group[sizeof(JOB_GROUP_PREFIX) + ID_RUN_LENGTH];
    char *launcher;
    char *run;        /* that it was started for */
    char *token_path; /* of the file with its agents' credential, or NULL */
    json_t *args;     /* complete */
    json_t *who;      /* may stop it where its launcher is gone; NULL: every operator */
    long nodes;
    char engine_id[128]; /* "" while it is not known */
    enum job_state state;
    char reason[JOB_WORDS_MAX];  /* the engine's own, or why it is stopped */
    char trouble[JOB_WORDS_MAX]; /* why the engine can't be asked; "": it can */
    int news_left;               /* changes of these alone that may be told yet, */
    int64_t news_at;             /* counted then */
    bool is_stopped;             /* the engine has taken that it is to stop, */
    int64_t stopped_at;          /* then */
    int64_t created_ms, started_ms, ended_ms;
    int64_t asked_ms;          /* for; 0: it waits for its turn */
    int64_t asked_at;          /* the same */
    bool is_begun;             /* its start was begun, by this server or one before */
    int start_pid;             /* of the command, while it is under way; else 0 */
    int64_t may_come_until_at; /* its start may have an effect yet */
    int64_t started_at;        /* the same, where it is not 0 */
    int64_t held_until_ms;     /* it waits for a follow-up of its run; 0: it does not */
    int64_t held_until_at;     /* the same */
    int64_t awaited_until_at;  /* somebody waits for its state */
    int64_t due_at;            /* the next question */
    char token[JOB_TOKEN_SIZE];
    struct engine_call *call;
    enum launcher_command command; /* of the call, or the last one */
    unsigned kept, synced; /* versions of its file: written, and safe on the disk */
    int sync_errno;        /* 0: it was */
    struct job_sync *sync; /* under way, or NULL */
};

TAILQ_HEAD(job_list, job);

struct jobs {
    uv_loop_t *loop;
    uv_timer_t timer;
    char *dir, *launchers_dir, *server;
    bool has_tokens;
    struct launcher_list launchers;
    struct engine_calls calls;
    struct job_list list; /* the oldest first */
};

/* What the engine knows it by; out has JOB_NAME_SIZE bytes. */
#define JOB_NAME_SIZE 64
void job_name(const struct job *job, char *out);

int64_t job_now_at(const struct job *job);
bool job_is_alive(const struct job *job);

/* NULL where the server has that launcher no more. */
struct launcher *job_launcher(const struct job *job);

/* "job 12 of slurm is pending: ..."; out has JOB_TEXT_MAX bytes. */
void job_sentence(const struct job *job, char *out);

/* As the API shows it, without its token. A new reference. */
json_t *job_json(const struct job *job);

/* A new one at the end of the list, of which its caller fills in the rest. NULL when
 * memory is out. */
struct job *job_create(struct jobs *jobs, const char *id, const char *group,
                       const char *launcher, const char *run, json_t *args);
/* One as it was last kept; nothing where that is none. */
void job_restore(struct jobs *jobs, const json_t *doc);
/* It is in no list any more. */
void job_free(struct job *job);

/* Its file: "json", as it was kept last, or "safe", as the disk surely has it. */
void job_path(const struct job *job, const char *kind, char out[PATH_MAX]);
/* Both of one that has ended. */
void job_remove_files(const struct job *job);
/* Write it, so that the next server knows it, and soon also after a loss of power. -1
 * after saying in the log that it will not. */
int job_keep(struct job *job);

/* The credential of its agents, in a file that its engine's nodes can read. */
int job_write_token(struct job *job, struct error *err);
void job_forget_token(struct job *job);

/* It is now so, and can be asked: logged, and kept, if that is news. The reason may be
 * its own; where it says something else each time, and the state stays, only some of that
 * is taken. */
void job_enter(struct job *job, enum job_state state, const char *reason);

/* What it is cannot be found out now, for a trouble of which as much is taken. */
void job_be_unknown(struct job *job, const char *trouble);

/* It waits so long for a follow-up of its run; 0: no longer. */
void job_hold(struct job *job, int64_t ms);

/* What is due of it, but for the engine. */
void job_tick(struct job *job);

/* Whether a command is due that asks the engine, and which. */
bool job_wants_call(const struct job *job);
enum launcher_command job_next_command(const struct job *job);
/* Run it. Whether there is one more command under way: it may have to wait for its turn.
 */
bool job_call(struct job *job);

void job_stop(struct job *job, const char *reason);
/* A person wants it stopped, though it is to stop already. */
void job_stop_again(struct job *job);

#endif
