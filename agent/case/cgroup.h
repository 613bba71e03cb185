/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - a cgroup (version 2) for the processes of a case, if permitted
 *
 * A cgroup also contains processes that a subreaper cannot kill: a process that forks
 * faster than it is found, and a process of another user. The cgroup uses no controllers,
 * so it does not slow its processes. */
#ifndef RINGBENCH_AGENT_CASE_CGROUP_H
#define RINGBENCH_AGENT_CASE_CGROUP_H

#include <stddef.h>
#include <sys/types.h>

/* Create a cgroup below this process's cgroup and check that children can start in it.
 * Returns a descriptor for cgroup_fork, with the path in `dir`; -1 with "" on failure. */
int cgroup_make(char *dir, size_t size);

/* fork() into the cgroup, or plain fork() if `cgroup` is -1. */
pid_t cgroup_fork(int cgroup);

/* Send SIGKILL to all processes at once. Accepts "" and a cgroup that is gone. */
void cgroup_kill(const char *dir);

/* Remove the cgroup after all its processes have ended. Accepts "". */
void cgroup_remove(const char *dir);

#endif
