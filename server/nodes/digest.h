/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - computes SHA-256 digests as text */
#ifndef RINGBENCH_SERVER_NODES_DIGEST_H
#define RINGBENCH_SERVER_NODES_DIGEST_H

#include <jansson.h>
#include <stdbool.h>

#define DIGEST_TEXT_SIZE 65

/* Write the digest of a text: 64 hexadecimal digits and a NUL. */
void digest_text(const char *text, char out[DIGEST_TEXT_SIZE]);

/* Write the digest of a JSON value. White space and the order of members do not affect
 * the digest. */
void digest_json(const json_t *value, char out[DIGEST_TEXT_SIZE]);

/* Return true if the digests are equal. The comparison takes constant time. */
bool digest_equal(const char a[DIGEST_TEXT_SIZE], const char b[DIGEST_TEXT_SIZE]);

#endif
