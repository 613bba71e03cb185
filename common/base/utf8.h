/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - checks whether foreign or truncated text is valid UTF-8 (RFC 3629) */
#ifndef RINGBENCH_COMMON_BASE_UTF8_H
#define RINGBENCH_COMMON_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Return the length of the valid sequence at `data`; 0 if there is none, or at a NUL. */
size_t utf8_sequence(const char *data, size_t len);

/* Return the code point of a valid sequence of n bytes. */
uint32_t utf8_code(const char *sequence, size_t n);

/* Return how many bytes of a NUL-terminated text to print with "%.*s": at most `most`,
 * without splitting a UTF-8 sequence. */
int utf8_fit(const char *text, int most);

/* Remove an incomplete sequence at the end of a text. */
void utf8_trim(char *text);

/* Overwrite each byte of a NUL-terminated text that is not part of a valid sequence
 * with '?'. */
void utf8_clean(char *text);

#endif
