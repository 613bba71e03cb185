/* SPDX-License-Identifier: Apache-2.0 */
/* ids.h - random identifiers and the rule for node names */
#ifndef RINGBENCH_COMMON_BASE_IDS_H
#define RINGBENCH_COMMON_BASE_IDS_H

#include <stdbool.h>

#define ID_RUN_LENGTH 12
#define ID_UUID_LENGTH 36
#define ID_NODE_MAX 253

/* Write a run's id: 7 characters of time, 5 random ones, in lower-case Crockford base 32,
 * so that ids sort by creation second. Needs ID_RUN_LENGTH + 1 bytes. */
void id_run(char *out);

/* Write a random (version 4) UUID, RFC 9562. Needs ID_UUID_LENGTH + 1 bytes. */
void id_uuid(char *out);

/* Return whether the text is a valid node name: 1 to ID_NODE_MAX of A-Z a-z 0-9 . _ - */
bool id_is_node_name(const char *text);

#endif
