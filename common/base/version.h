/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - which ringbench this is */
#ifndef RINGBENCH_COMMON_BASE_VERSION_H
#define RINGBENCH_COMMON_BASE_VERSION_H

/* The version of docs/development/agent-protocol.md. It changes when an agent or a server
 * of the version before would misunderstand the other, and releases may share it. */
#define AGENT_PROTOCOL 1

/* A hash of what workers are made of, 12 hexadecimal digits: workers of a case share
 * memory and wire formats that have no versions of their own, so all must be of one
 * build. */
const char *version_build(void);

/* "PROGRAM VERSION (workers' build ID)" on stdout, as --version answers; -1 if that
 * fails. */
int version_print(const char *program);

#endif
