/* SPDX-License-Identifier: Apache-2.0 */
/* engine_call.h - run the commands of launchers and hooks as child processes */
#ifndef RINGBENCH_SERVER_LAUNCH_ENGINE_CALL_H
#define RINGBENCH_SERVER_LAUNCH_ENGINE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/base/error.h"
#include "server/launch/launcher.h"

/* Maximum of concurrent commands per launcher. If its engine hangs, each of them occupies
 * a process and two descriptors of the server for command_s. */
#define ENGINE_CALLS_MAX 16

/* Texts are the first 4 KiB of the output, as UTF-8 without white space at the ends. */
struct engine_answer {
    bool has_failed; /* by its status, a signal or the time limit */
    /* the command exceeded the time limit, but may have taken effect */
    bool is_late;
    const char *why;           /* the reason of the failure */
    const char *text;          /* standard output, several lines */
    const char *complaint;     /* standard error as one line */
    struct launcher *launcher; /* borrowed; may be removed from the list. NULL: a hook */
};

typedef void engine_answered(void *arg, const struct engine_answer *answer);

struct engine_call;

/* Commands whose process exists, answered or not. */
TAILQ_HEAD(engine_calls, engine_call);

/* The number of commands of the launcher with that name. */
size_t engine_calls_count(const struct engine_calls *calls, const char *launcher);

/* Answer for ended commands. Kill commands that exceeded their time limit, with their
 * descendants. now_ms: of a monotonic clock, also below. */
void engine_calls_tick(struct engine_calls *calls, int64_t now_ms);

/* Forget all commands. They go on, and no `done` is called. */
void engine_calls_abandon(struct engine_calls *calls);

/* Run argv with env (NULL-terminated; borrowed) and empty input. `done` is called once,
 * by a later tick. NULL with the reason. */
struct engine_call *engine_call_start(struct engine_calls *calls,
                                      struct launcher *launcher, char **argv, char **env,
                                      int64_t now_ms, engine_answered *done, void *arg,
                                      struct error *err);

/* Make a process's output displayable: UTF-8 without control characters and without white
 * space at the ends. Newlines stay if has_lines. text: `len` bytes with room for one
 * more. Returns the beginning of the result. */
const char *engine_text_clean(char *text, size_t len, bool has_lines);

/* engine_call_start() for a command without a launcher, with a time limit. */
struct engine_call *engine_call_run(struct engine_calls *calls, int64_t limit_ms,
                                    char **argv, char **env, int64_t now_ms,
                                    engine_answered *done, void *arg, struct error *err);

/* Kill the command; `done` is not called. */
void engine_call_cancel(struct engine_call *call);

#endif
