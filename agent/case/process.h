/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - a process with piped output, in a process group of its own */
#ifndef RINGBENCH_AGENT_CASE_PROCESS_H
#define RINGBENCH_AGENT_CASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

#include "agent/case/process_tree.h"
#include "common/base/error.h"

struct process;

enum process_stream { PROCESS_STDOUT, PROCESS_STDERR, PROCESS_EVENTS, PROCESS_STREAMS };

struct process_params {
    const char *path;
    char *const *argv;
    char *const *env;
    const char *cwd; /* working directory; NULL: this process's */
};

struct process_handlers {
    void (*on_data)(void *arg, enum process_stream stream, const char *data, size_t len);
    /* The process has ended and its pipes are read to their end (or, should a descendant
     * hold one open, for one second more). Nothing is called after this; destroy it. */
    void (*on_end)(void *arg, bool is_signal, int code_or_signal);
    void *arg;
};

/* Start a program: stdin from /dev/null, stdout, stderr and descriptor 3 piped here, all
 * other descriptors closed, default signals but SIGUSR2 ignored, a new process group,
 * SIGKILL when this process dies. NULL with the reason when it can't be forked or
 * executed; nothing runs then. */
struct process *process_spawn(struct process_tree *tree,
                              const struct process_params *params,
                              const struct process_handlers *handlers, struct error *err);

pid_t process_pid(const struct process *process);

/* What it used; nothing before its end. */
const struct process_usage *process_usage(const struct process *process);

/* Send a signal to the whole group; nothing once the process has ended. */
void process_signal(struct process *process, int signum);

/* Send it to the process alone, not to its children. */
void process_signal_leader(struct process *process, int signum);

/* Stop reading the event and output pipes, so that a fast writer blocks; and go on. */
void process_pause(struct process *process);
void process_resume(struct process *process);

/* Kill the group if it still lives, close the pipes and free it; before its tree. No
 * handler is called any more. NULL is fine. */
void process_destroy(struct process *process);

#endif
