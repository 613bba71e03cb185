/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - which bytes are UTF-8 (RFC 3629), for text that comes from outside or was cut
 */
#ifndef RINGBENCH_COMMON_BASE_UTF8_H
#define RINGBENCH_COMMON_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length of the valid sequence that begins at data; 0 if there is none (or a NUL). */
size_t utf8_sequence(const char *data, size_t len);

/* The code point of a valid sequence of n bytes. */
uint32_t utf8_code(const char *sequence, size_t n);

/* The most bytes of a NUL-terminated text, up to `most`, that end with no part of a
 * sequence: for "%.*s". */
int utf8_fit(const char *text, int most);

/* Take away a sequence at the end of a text that was cut before the sequence was whole.
 */
void utf8_trim(char *text);

/* Overwrite each byte of a NUL-terminated text that is not part of a valid sequence
 * with '?'. */
void utf8_clean(char *text);

#endif
