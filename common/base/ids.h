/* SPDX-License-Identifier: Apache-2.0 */
/* ids.h - creates random identifiers and checks node names */
#ifndef RINGBENCH_COMMON_BASE_IDS_H
#define RINGBENCH_COMMON_BASE_IDS_H

#include <stdbool.h>

#define ID_RUN_LENGTH 12
#define ID_UUID_LENGTH 36
#define ID_NODE_MAX 253

/* Write a run's ID: 7 characters of time and 5 random characters in lower-case Crockford
 * base 32, so that IDs sort by the second of their creation. Needs ID_RUN_LENGTH + 1
 * bytes. */
void id_run(char *out);

/* Write a random (version 4) UUID, RFC 9562. Needs ID_UUID_LENGTH + 1 bytes. */
void id_uuid(char *out);

/* Return true if the text is a valid node name: 1 to ID_NODE_MAX characters of A-Z a-z
 * 0-9 . _ - */
bool id_is_node_name(const char *text);

#endif
