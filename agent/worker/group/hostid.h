/* SPDX-License-Identifier: Apache-2.0 */
/* hostid.h - which ranks are on one host, that is: can share memory */
#ifndef RINGBENCH_WORKER_GROUP_HOSTID_H
#define RINGBENCH_WORKER_GROUP_HOSTID_H

#define HOSTID_MAX 128

/* A hash of what two processes must have in common to share memory: boot id, host name,
 * the uts, ipc, net and pid namespaces, and the user. `override` (not NULL or "") stands
 * in its place. Returns text. */
const char *hostid_text(const char *override, char text[HOSTID_MAX]);

/* The boot id alone: the machine, whatever its namespaces. "unknown" without /proc. */
const char *hostid_machine(char text[HOSTID_MAX]);

#endif
