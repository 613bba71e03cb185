/* SPDX-License-Identifier: Apache-2.0 */
/* hostid.h - identify a host: ranks with the same host id can share memory */
#ifndef RINGBENCH_WORKER_GROUP_HOSTID_H
#define RINGBENCH_WORKER_GROUP_HOSTID_H

#define HOSTID_MAX 128

/* A hash of boot id, host name, user, and the uts, ipc, net and pid namespaces: processes
 * share memory only if all of these agree. `override` (unless NULL or "") replaces the
 * hash. Returns text. */
const char *hostid_text(const char *override, char text[HOSTID_MAX]);

/* The boot id, shared by all containers of a machine; "unknown" without /proc. */
const char *hostid_machine(char text[HOSTID_MAX]);

#endif
