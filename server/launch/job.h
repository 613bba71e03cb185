/* job.h - one job of an engine: what is known of it, its files, and what the engine is
 * asked of it. Private to server/launch; times are of the wall clock, in ms, since they
 * outlive the server. */
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
#include "server/launch/engine_call.h"
#include "server/launch/jobs.h"
#include "server/launch/launcher.h"

#define JOB_GROUP_PREFIX "job-"
#define JOB_TOKEN_SIZE (2 * ID_UUID_LENGTH + 1)

struct ask {
    STAILQ_ENTRY(ask) entry;
    void (*told)(void *arg, const char *sentence);
    void *arg;
    int left; /* answers to wait for */
};

struct job {
    TAILQ_ENTRY(job) entry;
    struct jobs *jobs;
    char id[ID_RUN_LENGTH + 1];
    char group[sizeof(JOB_GROUP_PREFIX) + ID_RUN_LENGTH];
    char *launcher, *run; /* the run: that it was started for */
    json_t *args;         /* complete */
    long nodes, keep_s;
    char engine_id[128]; /* "" while it is not known */
    enum job_state state;
    char reason[JOB_TEXT_MAX / 2]; /* the engine's own, or what went wrong */
    bool is_cut;                   /* stopped by us for its hours */
    bool is_stopped;               /* the engine has taken that it is to stop */
    bool is_asked;                 /* for; else it waits for its turn */
    int64_t created_ms, started_ms, ended_ms;
    int64_t idle_ms; /* since when nobody needs it; 0: somebody does */
    int64_t due_ms;  /* the next question */
    char token[JOB_TOKEN_SIZE];
    struct engine_call *call;
    enum launcher_command command; /* of the call */
    STAILQ_HEAD(, ask) asks;
};

TAILQ_HEAD(job_list, job);

struct jobs {
    uv_loop_t *loop;
    uv_timer_t timer;
    char *dir, *launchers_dir, *server;
    bool has_tokens;
    struct launcher_list launchers;
    struct job_list list; /* the oldest first */
};

int64_t job_now_ms(void);
bool job_is_alive(const struct job *job);

/* NULL where the server has that launcher no more. */
const struct launcher *job_launcher(const struct job *job);

/* "job 12 of slurm is pending: ..."; out has JOB_TEXT_MAX bytes. */
void job_sentence(const struct job *job, char *out);

/* As the API shows it, without its token. A new reference. */
json_t *job_json(const struct job *job);

/* A new one at the end of the list, of which its caller fills in the rest. NULL when
 * memory is out. */
struct job *job_create(struct jobs *jobs, const char *group, const char *launcher,
                       const char *run, json_t *args);
/* One as it was last kept; nothing where that is none. */
void job_restore(struct jobs *jobs, const json_t *doc);
/* It is in no list any more. */
void job_free(struct job *job);

/* Its file, with a suffix. */
void job_path(const struct job *job, const char *suffix, char out[PATH_MAX]);
/* Write it, so that the next server knows it. */
void job_keep(const struct job *job);

/* The credential of its agents, in a file that its engine's nodes can read. */
void job_token_path(const struct job *job, char out[PATH_MAX]);
int job_write_token(const struct job *job, struct error *err);
void job_forget_token(struct job *job);

/* It is now so: logged, and kept, if that is news. The reason may be its own. */
void job_enter(struct job *job, enum job_state state, const char *reason);

/* Answer those who ask what became of it: all, or who has waited long enough. */
void job_tell_asks(struct job *job, bool is_over);

/* What is due of it at a time. */
void job_tick(struct job *job, int64_t now);
void job_limit_hours(struct job *job, int64_t now);
void job_stop(struct job *job, const char *reason);

#endif
