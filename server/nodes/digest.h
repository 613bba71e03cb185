/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - SHA-256 as text */
#ifndef RINGBENCH_SERVER_NODES_DIGEST_H
#define RINGBENCH_SERVER_NODES_DIGEST_H

#include <jansson.h>
#include <stdbool.h>

#define DIGEST_TEXT_SIZE 65

/* Write 64 hexadecimal digits and a NUL. */
void digest_text(const char *text, char out[DIGEST_TEXT_SIZE]);

/* The same of a JSON value: those that differ only in white space or in the order of
 * members have the same digest. */
void digest_json(const json_t *value, char out[DIGEST_TEXT_SIZE]);

/* In a time that does not depend on where they differ. */
bool digest_equal(const char a[DIGEST_TEXT_SIZE], const char b[DIGEST_TEXT_SIZE]);

#endif
