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

/* Commands of one launcher that run at once. If its engine hangs, each of them occupies a
 * process and two descriptors of this server for command_s. */
#define ENGINE_CALLS_MAX 16

/* Texts are the first 4 KiB that the command wrote, as UTF-8 without white space at the
 * ends. */
struct engine_answer {
    bool has_failed;           /* by its status, a signal or the time that it took */
    bool is_late;              /* it took too long, and may have had its effect */
    const char *why;           /* it has failed */
    const char *text;          /* standard output, several lines */
    const char *complaint;     /* standard error, in one line */
    struct launcher *launcher; /* borrowed; the server may no longer have it. NULL: of
                                  a hook */
};

typedef void engine_answered(void *arg, const struct engine_answer *answer);

struct engine_call;

/* The commands whose process is there, answered or not. */
TAILQ_HEAD(engine_calls, engine_call);

/* How many there are of the launcher of that name. */
size_t engine_calls_count(const struct engine_calls *calls, const char *launcher);

/* Answer for commands that have ended. Kill those that took longer than their launcher's
 * command_s, and what they started. now_ms: of a monotonic clock, as below. */
void engine_calls_tick(struct engine_calls *calls, int64_t now_ms);

/* The commands go on by themselves, and nobody is told. */
void engine_calls_abandon(struct engine_calls *calls);

/* Run argv with env (NULL-terminated; borrowed) and nothing to read. `done` is called
 * once, by a later tick. NULL with the reason. */
struct engine_call *engine_call_start(struct engine_calls *calls,
                                      struct launcher *launcher, char **argv, char **env,
                                      int64_t now_ms, engine_answered *done, void *arg,
                                      struct error *err);

/* Make what a process wrote, `len` bytes with room for one more, fit to be shown: as
 * UTF-8 without white space at the ends and without control characters, newlines aside if
 * it has_lines. Returns where the text begins. */
const char *engine_text_clean(char *text, size_t len, bool has_lines);

/* The same of a command that belongs to no launcher, which may take so long. */
struct engine_call *engine_call_run(struct engine_calls *calls, int64_t limit_ms,
                                    char **argv, char **env, int64_t now_ms,
                                    engine_answered *done, void *arg, struct error *err);

/* Kill it; `done` is not called. */
void engine_call_cancel(struct engine_call *call);

#endif
