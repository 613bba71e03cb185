/* SPDX-License-Identifier: Apache-2.0 */
/* process_tree.h - the processes of a case and all that they start
 *
 * This process is the parent of what it spawns, and the subreaper of what daemonises
 * below. So the tree has ended only when this process has no child left. */
#ifndef RINGBENCH_AGENT_CASE_PROCESS_TREE_H
#define RINGBENCH_AGENT_CASE_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/base/error.h"

/* What a process used, the children that it waited for included. */
struct process_usage {
    int64_t cpu_us, involuntary; /* CPU time; how often it was taken off its core */
};

struct process_tree;

/* Close all descriptors of this process from this one on. */
void process_tree_close_from(int first);

/* From the loop, once nothing of the tree is left after process_tree_end. `left` names
 * processes that were killed and do not die; "": there are none. */
typedef void process_tree_end_fn(void *arg, const char *left);

/* At most one at a time in a process: it waits for every child there is. Blocks SIGCHLD
 * and raises this process's limit of open files, but not that of what it spawns. */
struct process_tree *process_tree_create(uv_loop_t *loop, process_tree_end_fn *on_end,
                                         void *arg, struct error *err);

/* The cgroup of its processes; "": they have none. */
const char *process_tree_cgroup(const struct process_tree *tree);

/* Kill all that still lives in it. */
void process_tree_end(struct process_tree *tree);

/* For tests: how long what it kills has to die; 30 s at first. */
void process_tree_limit(struct process_tree *tree, uint64_t kill_ms);

/* After its end. NULL is fine. */
void process_tree_destroy(struct process_tree *tree);

/* ---- for process.c ---- */

/* A process that was spawned, part of its owner's struct. */
struct tree_child {
    struct tree_child *next;
    pid_t pid;
    struct process_usage usage; /* once it has ended */
    void (*on_exit)(struct tree_child *child, bool is_signal, int number);
};

struct process_params;

/* Start a program with these descriptors as stdout, stderr and 3. Waits until it has been
 * executed. */
int process_tree_spawn(struct process_tree *tree, const struct process_params *params,
                       const int streams[3], struct tree_child *child, struct error *err);

/* on_exit is not called any more. */
void process_tree_forget(struct process_tree *tree, struct tree_child *child);

uv_loop_t *process_tree_loop(const struct process_tree *tree);

/* A buffer for reading pipes, shared by all. */
uv_buf_t process_tree_scratch(struct process_tree *tree);

#endif
