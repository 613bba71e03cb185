/* engine_call.h - a command of a launcher, run beside the loop, and how many may be */
#ifndef RINGBENCH_SERVER_LAUNCH_ENGINE_CALL_H
#define RINGBENCH_SERVER_LAUNCH_ENGINE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "common/base/error.h"
#include "server/launch/launcher.h"

/* Commands under way at once: an engine that hangs keeps each for its command_s, with a
 * process and two descriptors of this server. */
#define ENGINE_CALLS_MAX 64    /* in all */
#define ENGINE_CALLS_OF_ONE 16 /* launcher */
#define ENGINE_CALLS_SPARED 4  /* of both, for commands that stop jobs */

/* What came of it: the begin of what it wrote, without white space at the ends, UTF-8. */
struct engine_answer {
    bool has_failed;  /* it ended with another status than 0, by a signal or too late */
    bool is_late;     /* and may have had its effect */
    const char *why;  /* it has failed */
    const char *text; /* its standard output, of lines */
    const char *complaint;     /* its standard error, as one line */
    struct launcher *launcher; /* borrowed; it may be gone from the server's */
};

typedef void engine_answered(void *arg, const struct engine_answer *answer);

struct engine_call;

/* Those whose process is there, answered or not. */
struct engine_calls {
    uv_loop_t *loop;
    TAILQ_HEAD(, engine_call) list;
};

void engine_calls_init(struct engine_calls *calls, uv_loop_t *loop);

/* How many there are of the launcher of that name. */
size_t engine_calls_count(const struct engine_calls *calls, const char *launcher);

/* Whether there is room for one more, which stops a job or does not. */
bool engine_calls_have_room(const struct engine_calls *calls, const char *launcher,
                            bool is_stop);

/* Before the loop ends: the commands go on by themselves, and nobody is told. */
void engine_calls_abandon(struct engine_calls *calls);

/* Run argv with env (NULL-terminated; borrowed) and nothing to read. `done` runs on the
 * loop, once; after the launcher's command_s the command is killed, and what it started.
 * NULL with the reason. */
struct engine_call *engine_call_start(struct engine_calls *calls,
                                      struct launcher *launcher, char **argv, char **env,
                                      engine_answered *done, void *arg,
                                      struct error *err);

/* The command's process, which leads a group of its own. */
int engine_call_pid(const struct engine_call *call);

/* `done` does not run; of one that is cancelled the command is killed, too. */
void engine_call_forget(struct engine_call *call);
void engine_call_cancel(struct engine_call *call);

#endif
