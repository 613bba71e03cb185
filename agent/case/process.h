/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - runs a process with piped output in its own process group */
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
    /* The process has ended, and its pipes were read to their end. If a descendant keeps
     * a pipe open, reading stops one second after the process has ended. No handler is
     * called afterwards; destroy the process. */
    void (*on_end)(void *arg, bool is_signal, int code_or_signal);
    void *arg;
};

/* Start a program in a new process group. Its stdin is /dev/null; stdout, stderr and
 * descriptor 3 are pipes to this process; other descriptors are closed. SIGUSR2 is
 * ignored, other signals have their defaults. The program gets SIGKILL when this process
 * dies. Returns NULL with the reason if it cannot be forked or executed. */
struct process *process_spawn(struct process_tree *tree,
                              const struct process_params *params,
                              const struct process_handlers *handlers, struct error *err);

pid_t process_pid(const struct process *process);

/* All members are 0 until the process has ended. */
const struct process_usage *process_usage(const struct process *process);

/* Send a signal to the process group. Does nothing once the process has ended. */
void process_signal(struct process *process, int signum);

/* Send a signal to the process only, not to its children. */
void process_signal_leader(struct process *process, int signum);

/* While reading is paused, a fast writer blocks. */
void process_pause(struct process *process);
void process_resume(struct process *process);

/* Kill the process group if it still runs, close the pipes and free the process. Call it
 * before the tree is destroyed. No handler is called afterwards. Accepts NULL. */
void process_destroy(struct process *process);

#endif
