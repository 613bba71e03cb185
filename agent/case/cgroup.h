/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - a cgroup (version 2) for the processes of a case, where this process may
 * make one
 *
 * It holds what a subreaper does not: a process that forks faster than it is found, and
 * one that runs as another user. It has no controllers, so it costs those in it nothing.
 */
#ifndef RINGBENCH_AGENT_CASE_CGROUP_H
#define RINGBENCH_AGENT_CASE_CGROUP_H

#include <stddef.h>
#include <sys/types.h>

/* Make one below that of this process, and see whether children can be born into it. A
 * descriptor for cgroup_fork, its path in `dir`; -1 and "" where that can't be. */
int cgroup_make(char *dir, size_t size);

/* fork() into the cgroup; with -1, plain fork(). */
pid_t cgroup_fork(int cgroup);

/* SIGKILL to all in it at once. "" and one that is gone are fine. */
void cgroup_kill(const char *dir);

/* Once all in it have ended. */
void cgroup_remove(const char *dir);

#endif
