/* SPDX-License-Identifier: Apache-2.0 */
/* children.h - the children of this process, those that it adopted included
 *
 * Below a subreaper nobody escapes by daemonising: whose parent ends becomes a child of
 * the subreaper. So killing the children again and again, until there are none, ends all
 * descendants. Needs a kernel with CONFIG_PROC_CHILDREN. */
#ifndef RINGBENCH_AGENT_CASE_CHILDREN_H
#define RINGBENCH_AGENT_CASE_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whether a child is to be left alone. */
typedef bool children_spare_fn(const void *arg, pid_t pid);

/* Their numbers, at most max of them; how many. */
size_t children_list(pid_t *pids, size_t max);

/* Send SIGKILL to every child that is not spared (spare NULL: none is); how many there
 * were, those included that nobody has waited for. */
size_t children_kill(children_spare_fn *spare, const void *arg);

/* Name those that live for people: "1234 (sleep) in state S, ..."; root is put before
 * /proc. */
void children_describe(const char *root, children_spare_fn *spare, const void *arg,
                       char *text, size_t size);

#endif
