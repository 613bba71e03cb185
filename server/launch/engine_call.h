/* engine_call.h - a command of a launcher, run beside the loop */
#ifndef RINGBENCH_SERVER_LAUNCH_ENGINE_CALL_H
#define RINGBENCH_SERVER_LAUNCH_ENGINE_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "common/base/error.h"

/* What came of it: the begin of what it wrote, without white space at the ends, UTF-8. */
struct engine_answer {
    bool has_failed;  /* it ended with another status than 0, by a signal or too late */
    bool is_late;     /* and may have had its effect */
    const char *why;  /* it has failed */
    const char *text; /* its standard output, of lines */
    const char *complaint; /* its standard error, as one line */
};

typedef void engine_answered(void *arg, const struct engine_answer *answer);

struct engine_call;

/* Run argv with env (NULL-terminated; borrowed) and nothing to read. `done` runs on the
 * loop, once; after timeout_ms the command is killed, and what it started. NULL with the
 * reason. */
struct engine_call *engine_call_start(uv_loop_t *loop, char **argv, char **env,
                                      int64_t timeout_ms, engine_answered *done,
                                      void *arg, struct error *err);

/* The command's process, which leads a group of its own. */
int engine_call_pid(const struct engine_call *call);

/* Before the loop ends: the command goes on by itself, and `done` does not run. */
void engine_call_abandon(struct engine_call *call);

#endif
