/* SPDX-License-Identifier: Apache-2.0 */
/* launcher.h - reads launchers, which describe how to request nodes from an engine, from
 * the files of launchers.d (docs/reference/launchers.md) */
#ifndef RINGBENCH_SERVER_LAUNCH_LAUNCHER_H
#define RINGBENCH_SERVER_LAUNCH_LAUNCHER_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/base/problem.h"
#include "common/base/safe_regex.h"

#define LAUNCHERS_MAX 64

/* Name of a variable in the environment of all commands, in addition to those of the
 * file. Its value is the job's {name}. */
#define LAUNCHER_JOB_VARIABLE "LAUNCHED_JOB"

/* A launcher's commands. FIND searches for a job by its name and is optional. */
enum launcher_command {
    LAUNCHER_START,
    LAUNCHER_STATUS,
    LAUNCHER_STOP,
    LAUNCHER_FIND,
    LAUNCHER_COMMANDS
};

enum job_state { JOB_STARTING, JOB_PENDING, JOB_RUNNING, JOB_STOPPING, JOB_ENDED };

struct launcher {
    char *name, *config_dir;
    char *description; /* or NULL */
    /* URL at which agents reach this server; NULL: the server's default URL */
    char *server;
    /* a directory shared with nodes; NULL: the server's default directory */
    char *job_dir;
    json_t *parameters;              /* object, see common/spec/program_schema.h */
    json_t *env;                     /* object of templates, or NULL */
    json_t *argv[LAUNCHER_COMMANDS]; /* arrays of templates, or NULL */
    /* the first group of its match in START's output is the job's id */
    struct safe_regex *job;
    /* matches the error output of STATUS if the job does not exist; or NULL */
    struct safe_regex *gone;
    /* matches STATUS's output if the job cannot continue without intervention; or NULL */
    struct safe_regex *stuck;
    /* The first groups of these patterns in STATUS's output are the state and the reason.
     * If `word` is NULL, the state is the first word; if `reason` is NULL, the reason is
     * the first line. */
    struct safe_regex *word, *reason;
    json_t *states;             /* object: words of the engine -> names of job states */
    json_t *who;                /* users who may use the launcher; NULL: all operators */
    long most_nodes, most_jobs; /* nodes per job; concurrent jobs */
    double most_hours;          /* maximum hours per job */
    double every_s;             /* interval of status queries */
    double command_s;           /* time limit of a command */
    /* for job.c: no further job, or command, may begin in this tick */
    bool is_full, is_busy;
    unsigned refs; /* number of references, by the list and by running commands */
};

extern const char *const job_state_names[]; /* indexed by enum job_state */

/* A launcher is freed with its last reference. */
struct launcher *launcher_ref(struct launcher *launcher);
void launcher_unref(struct launcher *launcher);

/* Return the launcher as in the answer to GET /launchers, a new object. */
json_t *launcher_to_json(const struct launcher *launcher);

struct launcher_list {
    struct launcher *items[LAUNCHERS_MAX];
    size_t n;
};

/* Load all files NAME.json of `dir`, sorted by name. A NULL `dir` loads none. Return -1
 * on the first error, because a server does not start with an invalid launcher. */
int launcher_list_load(struct launcher_list *list, const char *dir, struct error *err);
void launcher_list_release(struct launcher_list *list);

/* Return the launcher with that name, borrowed; NULL if there is none. */
struct launcher *launcher_list_find(const struct launcher_list *list, const char *name);

/* Return the environment of all commands, ending with NULL. The caller frees it with
 * command_template_free(). NULL with the reason on failure. */
char **launcher_env(const struct launcher *launcher, json_t *values, struct error *err);

/* True if the text matches the pattern; false if the pattern is NULL. If `at` is not
 * NULL, *at and *len are set to the position and length of the first group. */
bool launcher_finds(const struct safe_regex *pattern, const char *text, const char **at,
                    size_t *len);

/* Parse the engine's answer to STATUS. Returns the state, or -1 if `states` does not
 * contain the word. reason: the engine's message, truncated to `size`. */
int launcher_state(const struct launcher *launcher, const char *text, char *reason,
                   size_t size);

#endif
