/* SPDX-License-Identifier: Apache-2.0 */
/* children.h - lists and kills the children of this process, including adopted ones
 *
 * A process whose parent ends becomes a child of its subreaper, so a process cannot
 * escape by daemonizing. Killing the children repeatedly until none is left therefore
 * ends all descendants. This needs a kernel with CONFIG_PROC_CHILDREN. */
#ifndef RINGBENCH_AGENT_CASE_CHILDREN_H
#define RINGBENCH_AGENT_CASE_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Return true to skip a child. */
typedef bool children_spare_fn(const void *arg, pid_t pid);

/* Returns the number of pids, at most max. */
size_t children_list(pid_t *pids, size_t max);

/* Send SIGKILL to every child that `spare` does not skip (NULL: skip none). Returns their
 * number, with zombies. */
size_t children_kill(children_spare_fn *spare, const void *arg);

/* Describe the live children as text: "1234 (sleep) in state S, ...". `root` is the
 * prefix of /proc. */
void children_describe(const char *root, children_spare_fn *spare, const void *arg,
                       char *text, size_t size);

#endif
