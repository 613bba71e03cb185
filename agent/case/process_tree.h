/* SPDX-License-Identifier: Apache-2.0 */
/* process_tree.h - the processes of a case and all their descendants
 *
 * This process is the parent of spawned processes and the subreaper of daemonized
 * descendants. So the tree has ended only when this process has no child left. */
#ifndef RINGBENCH_AGENT_CASE_PROCESS_TREE_H
#define RINGBENCH_AGENT_CASE_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/base/error.h"

/* Resource usage of a process, including the children that it waited for. */
struct process_usage {
    int64_t cpu_us, involuntary; /* CPU time; involuntary context switches */
};

struct process_tree;

void process_tree_close_from(int first);

/* Called from the loop after process_tree_end, when all processes have ended or 30 s have
 * passed. `left` describes processes that were killed but have not exited; "" if none. */
typedef void process_tree_end_fn(void *arg, const char *left);

/* Create the tree. A process can create only one tree, which waits for every child.
 * Blocks SIGCHLD and raises this process's limit of open files, but not the limit of
 * spawned processes. */
struct process_tree *process_tree_create(uv_loop_t *loop, process_tree_end_fn *on_end,
                                         void *arg, struct error *err);

/* Return the path of the tree's cgroup, or "" if there is no cgroup. */
const char *process_tree_cgroup(const struct process_tree *tree);

/* Kill all remaining processes of the tree. */
void process_tree_end(struct process_tree *tree);

/* For tests: the time that killed processes have to exit; 30 s by default. */
void process_tree_limit(struct process_tree *tree, uint64_t kill_ms);

/* Call after the tree has ended. Accepts NULL. */
void process_tree_destroy(struct process_tree *tree);

/* ---- for process.c ---- */

/* A spawned process, part of its owner's struct. */
struct tree_child {
    struct tree_child *next;
    pid_t pid;
    struct process_usage usage; /* zero until the process has ended */
    void (*on_exit)(struct tree_child *child, bool is_signal, int number);
};

struct process_params;

/* Start a program with these descriptors as stdout, stderr and 3. Waits until execve has
 * succeeded or failed. */
int process_tree_spawn(struct process_tree *tree, const struct process_params *params,
                       const int streams[3], struct tree_child *child, struct error *err);

/* Remove the child, so that its on_exit is not called. */
void process_tree_forget(struct process_tree *tree, struct tree_child *child);

uv_loop_t *process_tree_loop(const struct process_tree *tree);

/* A buffer for reading pipes, shared by all processes of the tree. */
uv_buf_t process_tree_scratch(struct process_tree *tree);

#endif
