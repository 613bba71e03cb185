/* SPDX-License-Identifier: Apache-2.0 */
/* launcher.h - how this server gets nodes from an engine that has them: a file of
 * launchers.d, understood (docs/reference/launchers.md) */
#ifndef RINGBENCH_SERVER_LAUNCH_LAUNCHER_H
#define RINGBENCH_SERVER_LAUNCH_LAUNCHER_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/base/problem.h"
#include "common/base/safe_regex.h"

#define LAUNCHERS_MAX 64

/* A variable that all commands have, beside those of the file: {name} of the job. */
#define LAUNCHER_JOB_VARIABLE "LAUNCHED_JOB"

/* What the engine is asked; FIND, which may be missing, for a job by its name. */
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
    char *description;  /* or NULL */
    char *server;       /* URL by which agents reach this server, or NULL: it knows */
    char *job_dir;      /* that nodes can read and write, or NULL: the server's own */
    json_t *parameters; /* object, see common/spec/program_schema.h */
    json_t *env;        /* object of templates, or NULL */
    json_t *argv[LAUNCHER_COMMANDS]; /* arrays of templates, or NULL */
    struct safe_regex *job; /* whose first group in the output of START is the job's id */
    struct safe_regex *gone;  /* in the errors of STATUS: there is no such job; or NULL */
    struct safe_regex *stuck; /* in what STATUS prints: the job waits for something that
                                 does not come by itself; or NULL */
    struct safe_regex *word, *reason; /* whose first groups in what STATUS prints are
                                         these; NULL: the first word, the first line */
    json_t *states;             /* object: words of the engine -> job states by name */
    json_t *who;                /* names of tokens that may use it; NULL: all */
    long most_nodes, most_jobs; /* of a job; at once */
    double most_hours;          /* of a job */
    double every_s;             /* its status is asked for */
    double command_s;           /* a command may take */
    bool is_full, is_busy; /* job.c: no further job, or command, of it may begin now */
    unsigned refs;         /* its list's, and those of commands under way */
};

extern const char *const job_state_names[]; /* by enum job_state */

/* A launcher is freed with its last reference. */
struct launcher *launcher_ref(struct launcher *launcher);
void launcher_unref(struct launcher *launcher);

/* As GET /launchers shows it. A new object. */
json_t *launcher_to_json(const struct launcher *launcher);

struct launcher_list {
    struct launcher *items[LAUNCHERS_MAX];
    size_t n;
};

/* Read DIR/NAME.json, in the order of names (NULL: there are none). -1 with the first
 * fault: a server does not start with a launcher that is not what it should be. */
int launcher_list_load(struct launcher_list *list, const char *dir, struct error *err);
void launcher_list_release(struct launcher_list *list);

/* Borrowed; NULL when there is none of that name. */
struct launcher *launcher_list_find(const struct launcher_list *list, const char *name);

/* The environment of all commands, ended by NULL, to be freed by command_template_free.
 * NULL with the reason. */
char **launcher_env(const struct launcher *launcher, json_t *values, struct error *err);

/* Whether the text has what the pattern (NULL: nothing) describes; unless `at` is NULL,
 * where its first group is, and how long. */
bool launcher_finds(const struct safe_regex *pattern, const char *text, const char **at,
                    size_t *len);

/* What the engine's answer to STATUS comes to: the state, or -1 for a word that `states`
 * does not have; and what it says, cut to size. */
int launcher_state(const struct launcher *launcher, const char *text, char *reason,
                   size_t size);

#endif
