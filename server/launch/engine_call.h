/* SPDX-License-Identifier: Apache-2.0 */
/* engine_call.h - runs the commands of launchers and hooks as child processes */
#ifndef RINGBENCH_SERVER_LAUNCH_ENGINE_CALL_H
#define RINGBENCH_SERVER_LAUNCH_ENGINE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/base/error.h"
#include "server/launch/launcher.h"

/* Maximum number of concurrent commands per launcher. If the engine hangs, each command
 * occupies a process and two file descriptors of the server for command_s. */
#define ENGINE_CALLS_MAX 16

/* A command's answer. Its texts are the first 4 KiB of the output, as UTF-8 without white
 * space at the ends. */
struct engine_answer {
    /* the command ended with an error status or a signal, or exceeded the time limit */
    bool has_failed;
    /* the command exceeded the time limit, but may have taken effect */
    bool is_late;
    const char *why;       /* why the command failed */
    const char *text;      /* standard output, several lines */
    const char *complaint; /* standard error as one line */
    /* borrowed; may no longer be in the list. NULL: the command is a hook */
    struct launcher *launcher;
};

typedef void engine_answered(void *arg, const struct engine_answer *answer);

struct engine_call;

/* Commands whose process still exists, whether they were answered or not. */
TAILQ_HEAD(engine_calls, engine_call);

/* Return the number of commands of the launcher with that name. */
size_t engine_calls_count(const struct engine_calls *calls, const char *launcher);

/* Call `done` for ended commands. Kill commands that exceeded their time limit, with
 * their descendants. now_ms: monotonic clock, also below. */
void engine_calls_tick(struct engine_calls *calls, int64_t now_ms);

/* Free all calls. The commands continue, and no `done` is called. */
void engine_calls_abandon(struct engine_calls *calls);

/* Run argv with env (NULL-terminated; borrowed) and empty input. `done` is called once,
 * by a later tick. Returns NULL with the reason on failure. */
struct engine_call *engine_call_start(struct engine_calls *calls,
                                      struct launcher *launcher, char **argv, char **env,
                                      int64_t now_ms, engine_answered *done, void *arg,
                                      struct error *err);

/* Make a process's output displayable: UTF-8 without control characters, and without
 * white space at the ends. If has_lines, line breaks stay. text: `len` bytes and room for
 * one more. Returns the beginning of the result. */
const char *engine_text_clean(char *text, size_t len, bool has_lines);

/* Like engine_call_start(), for a command without a launcher but with a time limit. */
struct engine_call *engine_call_run(struct engine_calls *calls, int64_t limit_ms,
                                    char **argv, char **env, int64_t now_ms,
                                    engine_answered *done, void *arg, struct error *err);

/* Kill the command; `done` is not called. */
void engine_call_cancel(struct engine_call *call);

#endif
