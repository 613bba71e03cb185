/* process_tree.h - the processes of a case and all that they start, below one reaper
 *
 * The reaper (agent/reaper) is their parent. It tells how they end, and the tree has
 * ended only when nothing is left below it, whatever daemonised. It kills all when this
 * agent dies; should it be killed itself, this agent kills what it leaves. */
#ifndef RINGBENCH_AGENT_PROCESS_PROCESS_TREE_H
#define RINGBENCH_AGENT_PROCESS_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/base/error.h"

/* What a process used, its children that it waited for included. */
struct process_usage {
    int64_t cpu_us, involuntary; /* CPU time; how often it was taken off its core */
};

struct process_table; /* all trees of this agent, which it makes a subreaper */
struct process_tree;

/* The program ringbench-reaper is beside this one. `dir`, which only one table at a time
 * has, is where the reapers of an earlier table are known by; NULL: nowhere. */
struct process_table *process_table_create(uv_loop_t *loop, const char *dir,
                                           struct error *err);

/* Whether all reapers of earlier tables on the directory have ended, and what was below
 * them: they outlive an agent that was killed. Start no tree for a case before. */
bool process_table_is_alone(struct process_table *table);

/* Every tree must have been destroyed. NULL is fine. */
void process_table_destroy(struct process_table *table);

/* What was killed and does not die, when its reaper has given up on it: such a process
 * has what it had, memory of a GPU say. False and "": there is none. */
bool process_table_lingers(const struct process_table *table, char *text, size_t size);
/* For tests: where /proc is looked for then; borrowed. */
void process_table_look_in(struct process_table *table, const char *root);

/* For tests: how long a reaper may take to answer, and to end its processes, before it is
 * killed and they with it. */
void process_table_limit(struct process_table *table, int answer_ms, int end_ms);

/* What holds the processes of the youngest tree: "cgroup", or "subreaper" alone. */
const char *process_table_containment(const struct process_table *table);

/* From the loop, once nothing of the tree is left after process_tree_end. `left` names
 * what does not die though it was killed; "": all is well. Destroy the tree then. */
typedef void process_tree_end_fn(void *arg, const char *left);

/* Start a reaper and wait until it is there, some milliseconds. */
struct process_tree *process_tree_create(struct process_table *table,
                                         process_tree_end_fn *on_end, void *arg,
                                         struct error *err);

/* Kill all that still lives in it. */
void process_tree_end(struct process_tree *tree);

/* No handler is called any more; what lives is killed by its reaper. NULL is fine. */
void process_tree_destroy(struct process_tree *tree);

/* ---- for process.c ---- */

/* A process that was spawned, part of the struct of whoever cares. */
struct tree_child {
    struct tree_child *next;
    pid_t pid;
    struct process_usage usage; /* once it has ended */
    void (*on_exit)(struct tree_child *child, bool is_signal, int number);
};

struct process_params;

/* Start a program with these descriptors as stdout, stderr and 3. */
int process_tree_spawn(struct process_tree *tree, const struct process_params *params,
                       const int streams[3], struct tree_child *child, struct error *err);

void process_tree_signal(struct process_tree *tree, pid_t pid, int signum, bool is_group);

/* on_exit is not called any more. */
void process_tree_forget(struct process_tree *tree, struct tree_child *child);

uv_loop_t *process_tree_loop(const struct process_tree *tree);

/* Room that pipes are read into, shared by all. */
uv_buf_t process_tree_scratch(const struct process_tree *tree);

#endif
