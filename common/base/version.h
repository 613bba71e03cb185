/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - provides the version of this ringbench build */
#ifndef RINGBENCH_COMMON_BASE_VERSION_H
#define RINGBENCH_COMMON_BASE_VERSION_H

/* The version of the protocol in docs/development/agent-protocol.md. Raise it when agent
 * and server of adjacent versions would misunderstand each other. Several releases may
 * use the same version. */
#define AGENT_PROTOCOL 1

/* Return a hash of the workers' sources, 12 hexadecimal digits. All workers of a case
 * must have the same build, because they share memory and wire formats without
 * versions. */
const char *version_build(void);

/* Print "PROGRAM VERSION (workers' build ID)" on stdout for --version; return -1 on
 * failure. */
int version_print(const char *program);

#endif
